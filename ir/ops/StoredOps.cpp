//===- StoredOps.cpp - Matrices in compressed storage formats ---------------------------------===//

#include "ir/TypeCode.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/ops/Contraction.h"
#include "runtime/abi/storage.h"

using namespace mlir;
using namespace mtc;

RankedTensorType StoredAttr::getStoredMatrix() {
  SmallVector<int64_t> shape(getType().getShape());
  if (getTransposed())
    std::reverse(shape.begin(), shape.end());
  return RankedTensorType::get(shape, getType().getElementType());
}

static RankedTensorType storedType(Storage storage, RankedTensorType matrix) {
  MLIRContext *context = matrix.getContext();
  if (storage == Storage::BF16)
    return RankedTensorType::get(matrix.getShape(), BFloat16Type::get(context));
  return RankedTensorType::get({mtc_nf4_bytes(matrix.getNumElements())},
                               IntegerType::get(context, 8, IntegerType::Unsigned));
}

RankedTensorType StoredAttr::getStoredType() { return storedType(getStorage(), getStoredMatrix()); }

SmallVector<int64_t> StoredContractOp::getFree() {
  return otherAxes(getInput().getType().getRank(), {static_cast<int64_t>(getAxis())});
}

/// Verifies stored_contract_c1 to stored_contract_c3.
LogicalResult StoredContractOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  auto matrix = dyn_cast<RankedTensorType>(getMatrixType());
  if (!matrix || !matrix.hasStaticShape() || matrix.getRank() != 2 ||
      getMatrix().getType() != storedType(getStorage(), matrix))
    return emitOpError() << "reads " << getMatrix().getType() << " as " << getMatrixType() << " of "
                         << stringifyStorage(getStorage())
                         << ", expected the stored type of the matrix (stored_contract_c1)";
  auto axis = static_cast<int64_t>(getAxis()), matrixAxis = static_cast<int64_t>(getMatrixAxis());
  if (axis < 0 || axis >= input.getRank() || matrixAxis < 0 || matrixAxis > 1 ||
      input.getDimSize(axis) != matrix.getDimSize(matrixAxis))
    return emitOpError() << "sums over axis " << axis << " of " << input << " and axis "
                         << matrixAxis << " of " << matrix
                         << ", expected axes of equal extents (stored_contract_c2)";
  SmallVector<int64_t> expected = pick(input.getShape(), getFree());
  expected.insert(getMatrixFirst() ? expected.begin() : expected.end(),
                  matrix.getDimSize(1 - matrixAxis));
  Type element = input.getElementType();
  if (result.getShape() != ArrayRef<int64_t>(expected) || element.getIntOrFloatBitWidth() > 32 ||
      element.getIntOrFloatBitWidth() < 16 || !holdsSumsOf(element, result.getElementType()))
    return emitOpError() << "returns " << result << ", expected extents " << toText(expected)
                         << " and floats of 16 or 32 bits that hold the sums (stored_contract_c3)";
  return success();
}

Cost StoredContractOp::getCost() {
  Cost cost = detail::defaultCost(*this);
  cost.flops = 2 * getType().getNumElements() * getInput().getType().getDimSize(getAxis());
  return cost;
}

bool StoredContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  ArrayRef<int64_t> shape = shapeOf(getOperand(operand));
  return operand == 0 ? mergedStride(getFree(), shape, strides).has_value()
                      : strides == ArrayRef(rowMajorStrides(shape));
}

SmallVector<int64_t> StoredContractOp::getDenseOrder(unsigned operand) {
  if (operand != 0)
    return llvm::to_vector(llvm::seq(typeOf(getMatrix()).getRank()));
  SmallVector<int64_t> order = getFree();
  order.push_back(getAxis());
  return order;
}

CallAttrInterface StoredContractOp::describeCall(std::optional<unsigned>) {
  RankedTensorType input = getInput().getType(), matrix = getStoredMatrix();
  SmallVector<int64_t> strides = stridesOf(getInput()),
                       ofMatrix = rowMajorStrides(matrix.getShape());
  int64_t row = *mergedStride(getFree(), input.getShape(), strides);
  int64_t along = strides[getAxis()], matrixAlong = ofMatrix[getMatrixAxis()],
          column = ofMatrix[1 - getMatrixAxis()], rows = 1;
  for (int64_t extent : pick(input.getShape(), getFree()))
    rows *= extent;
  MtcContraction c = {};
  mtc_set_contraction_types(&c, typeCode(input.getElementType()));
  c.out_type = typeCode(getType().getElementType());
  c.product_type = MTC_F32;
  c.m = rows;
  c.n = matrix.getDimSize(1 - getMatrixAxis());
  c.k = input.getDimSize(getAxis());
  auto fill = [](int64_t *to, int64_t outer, int64_t inner) {
    to[0] = outer;
    to[1] = inner;
  };
  fill(c.lhs_strides, row, along);
  fill(c.rhs_strides, matrixAlong, column);
  // The order of the operands is fixed: with the matrix's axis first, the result is stored
  // transposed.
  getMatrixFirst() ? fill(c.out_strides, 1, c.m) : fill(c.out_strides, c.n, 1);
  c.rhs_storage = static_cast<uint32_t>(getStorage());
  return ContractionCallAttr::get(getContext(), c);
}

//===------------------------------------------------------------------------------------------===//
// mtc.widen_stored
//===------------------------------------------------------------------------------------------===//

LogicalResult WidenStoredOp::verify() {
  if (getType().getRank() == 2 && getType().getElementType().isF32() &&
      getStored().getType() == storedType(Storage::NF4, getType()))
    return success();
  return emitOpError() << "reads " << getStored().getType() << " as " << getType()
                       << ", expected the stored type of the result (widen_stored_c1)";
}

FusibleShape WidenStoredOp::getFusibleShape() { return FusibleShape::Elementwise; }

namespace {

/// Loads the code and the scale of an element.
class CodeReader {
public:
  CodeReader(KernelBuilder &kernel, AffineExpr element)
      : kernel(kernel), b(kernel.body()), element(element) {}

  /// Returns the value of the element's code, which is in the upper half of a byte for even
  /// elements.
  Value readValue() {
    constexpr float values[] = MTC_NF4_VALUES;
    Value odd = arith::TruncIOp::create(b, b.getI32Type(), kernel.index(element % 2));
    Value shift = arith::SubIOp::create(b, word(4), arith::MulIOp::create(b, odd, word(4)));
    Value code = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, readByte(element.floorDiv(2)), shift), word(15));
    Value value = arith::ConstantOp::create(b, b.getF32FloatAttr(values[0]));
    for (auto [i, next] : llvm::enumerate(ArrayRef(values).drop_front())) {
      Value isReached = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, code,
                                              word(static_cast<int32_t>(i) + 1));
      value = arith::SelectOp::create(b, isReached,
                                      arith::ConstantOp::create(b, b.getF32FloatAttr(next)), value);
    }
    return value;
  }

  Value readScale(int64_t elements) {
    AffineExpr first = element.floorDiv(MTC_NF4_BLOCK) * 4 + mtc_nf4_scales(elements);
    Value bits = readByte(first);
    for (int32_t byte = 1; byte < 4; ++byte)
      bits = arith::OrIOp::create(b, bits,
                                  arith::ShLIOp::create(b, readByte(first + byte), word(8 * byte)));
    return arith::BitcastOp::create(b, b.getF32Type(), bits);
  }

private:
  Value word(int32_t value) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(value)); }
  Value readByte(AffineExpr at) {
    return arith::ExtUIOp::create(b, b.getI32Type(), kernel.load(0, {at}));
  }

  KernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
  AffineExpr element;
};

} // namespace

Operation *WidenStoredOp::buildKernel(OpBuilder &builder) {
  ArrayRef<int64_t> shape = getType().getShape();
  KernelBuilder kernel(builder, *this, shape);
  CodeReader reader(kernel, kernel.dim(0) * shape[1] + kernel.dim(1));
  Value value = arith::MulFOp::create(kernel.body(), reader.readValue(),
                                      reader.readScale(getType().getNumElements()));
  return kernel.yield(value, SmallVector<AffineExpr>{kernel.dim(0), kernel.dim(1)});
}
