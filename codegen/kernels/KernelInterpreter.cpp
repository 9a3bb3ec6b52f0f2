//===- KernelInterpreter.cpp - Reference interpreter for kernels ------------------------------===//

#include "codegen/kernels/KernelInterpreter.h"

#include "ir/builders/Scalar.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;
using namespace mtc;

static APFloat convert(APFloat value, Type type) {
  bool losesInformation;
  value.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &losesInformation);
  return value;
}

TypedAttr mtc::readElement(const char *bytes, Type element) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, elementBytes(element));
  Type scalar = getScalarType(element);
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
    return FloatAttr::get(scalar, convert(value, scalar));
  }
  if (element.isInteger(1))
    return IntegerAttr::get(scalar, bits != 0);
  unsigned width = scalar.getIntOrFloatBitWidth();
  return IntegerAttr::get(scalar, APInt(width, bits, false, /*implicitTrunc=*/true));
}

void mtc::writeElement(char *bytes, Type element, Attribute value) {
  uint64_t bits;
  if (isa<FloatType>(element))
    bits = convert(cast<FloatAttr>(value).getValue(), element).bitcastToAPInt().getZExtValue();
  else
    bits = cast<IntegerAttr>(value).getValue().getZExtValue();
  std::memcpy(bytes, &bits, elementBytes(element));
}

namespace {

class Interpreter {
public:
  Interpreter(KernelFunctionOp kernel, ArrayRef<const char *> inputs, ArrayRef<char *> outputs)
      : body(kernel.getBody().front()), yield(cast<KernelYieldOp>(body.getTerminator())),
        space(kernel.getSpace()), iterations(kernel.getIterations()), inputs(inputs),
        outputs(outputs), outputTypes(kernel.getOutputTypes()) {
    for (unsigned dim = 0; dim < space.size(); ++dim)
      (llvm::is_contained(kernel.getReduced(), dim) ? reduced : parallel).push_back(dim);
  }

  llvm::Error run() {
    for (auto [i, type] : llvm::enumerate(outputTypes)) {
      if (auto onto = dyn_cast_if_present<BlockArgument>(yield.getOnto()))
        std::memmove(outputs[i], inputs[onto.getArgNumber()], byteSize(type));
      else if (yield.scatters())
        std::memset(outputs[i], 0, byteSize(type));
      if (yield.isColumnSum(i))
        columnSums[i].resize(type.getNumElements());
    }
    iteration.assign(space.size(), 0);
    forEach(parallel, [&] { computeParallelIteration(); });
    for (auto &[i, sums] : columnSums) {
      Type element = outputTypes[i].getElementType();
      for (auto [k, sum] : llvm::enumerate(sums))
        writeElement(outputs[i] + k * elementBytes(element), element,
                     FloatAttr::get(Float64Type::get(element.getContext()), sum));
    }
    if (!error.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
    return llvm::Error::success();
  }

private:
  /// Calls `visit` for all indices of some dimensions, in order.
  void forEach(ArrayRef<unsigned> dims, llvm::function_ref<void()> visit) {
    if (dims.empty())
      return exists() ? visit() : void();
    for (int64_t i = 0; i < space[dims.front()] && error.empty(); ++i) {
      iteration[dims.front()] = i;
      forEach(dims.drop_front(), visit);
    }
    iteration[dims.front()] = 0;
  }

  /// Returns whether the current iteration is in a ragged space. The first iteration of a row
  /// always exists.
  bool exists() const {
    return !iterations || iteration[0] * space[1] + iteration[1] < *iterations;
  }

  void computeParallelIteration() {
    reductions.clear();
    // Each round computes the reductions whose operands only depend on reductions of earlier
    // rounds.
    size_t count = llvm::range_size(body.getOps<KernelReduceOp>());
    while (reductions.size() < count && error.empty()) {
      DenseMap<Operation *, Attribute> partial;
      forEach(reduced, [&] {
        evaluate();
        for (auto reduce : body.getOps<KernelReduceOp>())
          if (Attribute value = values.lookup(reduce.getValue());
              value && !reductions.contains(reduce.getResult()))
            partial[reduce] = combine(reduce, partial.lookup(reduce), value);
      });
      for (auto &[op, value] : partial)
        reductions[op->getResult(0)] = finish(cast<KernelReduceOp>(op), value);
    }
    isFirstOfRow = true;
    forEach(reduced, [&] {
      evaluate();
      store();
      isFirstOfRow = false;
    });
  }

  /// Evaluates the operations whose operands are known in the current iteration.
  void evaluate() {
    values = reductions;
    for (Operation &op : body.without_terminator()) {
      if (!error.empty())
        return;
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(isa<BlockArgument>(operand) ? Attribute() : values.lookup(operand));
      bool isLoad = isa<KernelLoadOp, KernelAddRowsOp>(op);
      if (isa<KernelReduceOp>(op) ||
          llvm::any_of(llvm::drop_begin(operands, isLoad), [](Attribute a) { return !a; }))
        continue;
      if (auto load = dyn_cast<KernelLoadOp>(op))
        values[load.getValue()] = evaluateLoad(load);
      else if (auto sum = dyn_cast<KernelAddRowsOp>(op))
        values[sum.getValue()] = evaluateAddRows(sum);
      else if (auto index = dyn_cast<KernelIndexOp>(op))
        values[index.getValue()] = integer(apply(index.getMap(), {})[0]);
      else if (auto check = dyn_cast<KernelCheckOp>(op))
        values[check.getValue()] = evaluateCheck(check, number(operands[0]));
      else if (auto narrow = dyn_cast<arith::TruncFOp>(op)) // Folds only if it is exact.
        values[narrow] = FloatAttr::get(
            narrow.getType(), convert(cast<FloatAttr>(operands[0]).getValue(), narrow.getType()));
      else if (auto rsqrt = dyn_cast<math::RsqrtOp>(op)) // Has no folder.
        values[rsqrt] = FloatAttr::get(
            rsqrt.getType(), 1 / std::sqrt(cast<FloatAttr>(operands[0]).getValueAsDouble()));
      else
        fold(op, operands);
    }
  }

  void fold(Operation &op, ArrayRef<Attribute> operands) {
    // Folds a clone, since folding in place would modify the kernel.
    Operation *clone = op.cloneWithoutRegions();
    SmallVector<OpFoldResult> results;
    bool folded = succeeded(clone->fold(operands, results)) && !results.empty();
    for (unsigned i = 0; folded && i < results.size(); ++i) {
      if (auto attribute = dyn_cast<Attribute>(results[i])) {
        values[op.getResult(i)] = attribute;
        continue;
      }
      // The operation folds to one of its operands, such as a select.
      Value operand = cast<Value>(results[i]);
      auto position = llvm::find(clone->getOperands(), operand);
      values[op.getResult(i)] = operands[position - clone->operand_begin()];
    }
    if (!folded)
      error = ("'" + op.getName().getStringRef() + "' does not fold").str();
    clone->erase();
  }

  Attribute evaluateLoad(KernelLoadOp load) {
    if (load.getGuard() && number(values.lookup(load.getGuard())) == 0)
      return values.lookup(load.getOtherwise());
    RankedTensorType type = load.getSource().getType();
    return readAt(load.getSource(), linearOffset(load.getMap(), load.getSymbols(), type));
  }

  /// Reads the element of an operand at an offset; 0 if the offset is out of bounds.
  Attribute readAt(Value source, int64_t offset) {
    if (offset < 0)
      return integer(0);
    unsigned operand = cast<BlockArgument>(source).getArgNumber();
    Type element = cast<RankedTensorType>(source.getType()).getElementType();
    return readElement(inputs[operand] + offset * elementBytes(element), element);
  }

  Attribute evaluateAddRows(KernelAddRowsOp op) {
    Attribute sum = op.getOnto() ? values.lookup(op.getOnto()) : Attribute();
    if (op.getGuard() && number(values.lookup(op.getGuard())) == 0)
      return FloatAttr::get(op.getType(), 0);
    for (int64_t row = 0; row < op.getRowCount() && error.empty(); ++row) {
      Attribute element =
          readAt(op.getSource(), linearOffset(op.getMap(), row, op.getSource().getType()));
      if (sum && op.getDecay()) {
        auto factor = cast<FloatAttr>(values.lookup(op.getDecay()));
        sum = FloatAttr::get(op.getType(), cast<FloatAttr>(sum).getValue() * factor.getValue());
      }
      sum = sum && error.empty() ? add(sum, element) : element;
    }
    return sum;
  }

  Attribute evaluateCheck(KernelCheckOp check, int64_t index) {
    int64_t extent = check.getExtent(), position = index < 0 ? index + extent : index;
    if (position < 0 || position >= extent) {
      error = "index " + std::to_string(index) + " is outside an axis of " + std::to_string(extent);
      return integer(0);
    }
    return integer(position);
  }

  void store() {
    if (!error.empty())
      return;
    for (auto [i, map] : llvm::enumerate(yield.getMaps().getAsValueRange<AffineMapAttr>())) {
      int64_t offset = linearOffset(map, yield.getSymbols(), outputTypes[i]);
      if (offset < 0)
        return;
      Type element = outputTypes[i].getElementType();
      char *place = outputs[i] + offset * elementBytes(element);
      Attribute value = values.lookup(yield.getValues()[i]);
      if (yield.isColumnSum(i)) {
        bool varies = llvm::any_of(reduced, [&](unsigned d) { return map.isFunctionOfDim(d); });
        if (varies || isFirstOfRow)
          columnSums[i][offset] += cast<FloatAttr>(value).getValueAsDouble();
        continue;
      }
      if (yield.scatters())
        value = add(readElement(place, element), value);
      writeElement(place, element, value);
    }
  }

  int64_t linearOffset(AffineMap map, ValueRange symbols, RankedTensorType type) {
    return linearOffset(map, numbersOf(symbols), type);
  }

  int64_t linearOffset(AffineMap map, ArrayRef<int64_t> symbols, RankedTensorType type) {
    int64_t offset = 0;
    SmallVector<int64_t> index = apply(map, symbols);
    for (auto [i, extent] : llvm::zip_equal(index, type.getShape())) {
      if (i < 0 || i >= extent) {
        error = "an access is out of bounds";
        return -1;
      }
      offset = offset * extent + i;
    }
    return offset;
  }

  SmallVector<int64_t> numbersOf(ValueRange symbols) {
    return llvm::map_to_vector(symbols,
                               [&](Value symbol) { return number(values.lookup(symbol)); });
  }

  SmallVector<int64_t> apply(AffineMap map, ArrayRef<int64_t> symbols) {
    SmallVector<int64_t> operands(iteration), results;
    llvm::append_range(operands, symbols);
    SmallVector<Attribute> attributes, folded;
    for (int64_t operand : operands)
      attributes.push_back(IntegerAttr::get(IndexType::get(map.getContext()), operand));
    (void)map.constantFold(attributes, folded);
    for (Attribute attribute : folded)
      results.push_back(number(attribute));
    return results;
  }

  static int64_t number(Attribute value) {
    return cast<IntegerAttr>(value).getValue().getSExtValue();
  }
  Attribute integer(int64_t value) {
    return IntegerAttr::get(IntegerType::get(yield.getContext(), 64), value);
  }

  static Attribute add(Attribute a, Attribute b) {
    if (auto x = dyn_cast<FloatAttr>(a))
      return FloatAttr::get(x.getType(), x.getValue() + cast<FloatAttr>(b).getValue());
    return IntegerAttr::get(cast<IntegerAttr>(a).getType(),
                            cast<IntegerAttr>(a).getValue() + cast<IntegerAttr>(b).getValue());
  }

  Attribute combine(KernelReduceOp reduce, Attribute partial, Attribute value) {
    if (isa<FloatAttr>(value))
      value = FloatAttr::get(
          Float64Type::get(value.getContext()),
          convert(cast<FloatAttr>(value).getValue(), Float64Type::get(value.getContext())));
    if (!partial)
      return value;
    if (auto x = dyn_cast<FloatAttr>(partial)) {
      APFloat a = x.getValue(), b = cast<FloatAttr>(value).getValue();
      switch (reduce.getKind()) {
      case ReductionKind::Add:
        return FloatAttr::get(x.getType(), a + b);
      case ReductionKind::Mul:
        return FloatAttr::get(x.getType(), a * b);
      case ReductionKind::Max:
        return FloatAttr::get(x.getType(), llvm::maximum(a, b));
      default:
        return FloatAttr::get(x.getType(), llvm::minimum(a, b));
      }
    }
    APInt a = cast<IntegerAttr>(partial).getValue(), b = cast<IntegerAttr>(value).getValue();
    bool isUnsigned = reduce.getIsUnsigned();
    auto larger = [&](const APInt &x, const APInt &y) { return isUnsigned ? x.ugt(y) : x.sgt(y); };
    Type type = cast<IntegerAttr>(partial).getType();
    switch (reduce.getKind()) {
    case ReductionKind::Add:
      return IntegerAttr::get(type, a + b);
    case ReductionKind::Mul:
      return IntegerAttr::get(type, a * b);
    case ReductionKind::Max:
      return IntegerAttr::get(type, larger(a, b) ? a : b);
    case ReductionKind::Min:
      return IntegerAttr::get(type, larger(a, b) ? b : a);
    case ReductionKind::And:
      return IntegerAttr::get(type, a & b);
    case ReductionKind::Or:
      return IntegerAttr::get(type, a | b);
    }
    llvm_unreachable("all kinds are covered");
  }

  Attribute finish(KernelReduceOp reduce, Attribute value) {
    if (auto x = dyn_cast<FloatAttr>(value))
      return FloatAttr::get(reduce.getType(), convert(x.getValue(), reduce.getType()));
    return value;
  }

  Block &body;
  KernelYieldOp yield;
  ArrayRef<int64_t> space;
  std::optional<int64_t> iterations;
  ArrayRef<const char *> inputs;
  ArrayRef<char *> outputs;
  SmallVector<RankedTensorType> outputTypes;
  SmallVector<unsigned> parallel, reduced;
  SmallVector<int64_t> iteration;
  std::map<unsigned, std::vector<double>> columnSums;
  bool isFirstOfRow = false;
  DenseMap<Value, Attribute> reductions, values;
  std::string error;
};

} // namespace

llvm::Error mtc::interpretKernel(KernelFunctionOp kernel, ArrayRef<const char *> inputs,
                                 ArrayRef<char *> outputs) {
  return Interpreter(kernel, inputs, outputs).run();
}
