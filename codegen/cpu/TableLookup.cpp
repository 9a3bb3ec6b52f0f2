//===- TableLookup.cpp - Lookups in small tables by register permutations ---------------------===//
//
// A permutation of words looks up 16 lanes in the 32 elements of two registers. Larger tables are
// selected by further index bits. A lookup takes 1 to 18 instructions, while a gather costs as much
// as 16 loads.
//
// A permutation of bytes looks up one byte of 64 lanes in the 128 elements of two registers. A
// lookup of 64 lanes in 256 elements takes 22 instructions instead of 72.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cpu/TableLookup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

constexpr int64_t kRegister = 16, kMaxTable = 256;
/// Bytes of a register, and lanes of a lookup by permutations of bytes.
constexpr int64_t kBytes = 64;
constexpr int64_t kPlanes = 4; ///< bytes of an element

namespace {
struct Interval {
  int64_t low, high; // Inclusive.
};
} // namespace

/// Returns the range of an unsigned integer of the body, or nullopt if it may be large.
static std::optional<Interval> rangeOf(Value value) {
  constexpr int64_t large = 1 << 16;
  if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return constant.ult(large)
               ? std::optional(Interval{static_cast<int64_t>(constant.getZExtValue()),
                                        static_cast<int64_t>(constant.getZExtValue())})
               : std::nullopt;
  unsigned width = value.getType().getIntOrFloatBitWidth();
  std::optional<Interval> byType;
  if (width <= 8)
    byType = Interval{0, (1 << width) - 1};
  Operation *op = value.getDefiningOp();
  auto of = [&](unsigned operand) { return rangeOf(op->getOperand(operand)); };
  auto combine = [&](auto function) -> std::optional<Interval> {
    std::optional<Interval> a = of(0), b = of(1);
    if (!a || !b)
      return byType;
    Interval range = function(*a, *b);
    bool isSmall = range.low >= 0 && range.high < (width <= 8 ? int64_t(1) << width : large);
    return isSmall ? std::optional(range) : byType;
  };
  if (isa<arith::ExtUIOp>(op))
    return of(0);
  if (isa<arith::AddIOp>(op))
    return combine([](Interval a, Interval b) { return Interval{a.low + b.low, a.high + b.high}; });
  if (isa<arith::MulIOp>(op))
    return combine([](Interval a, Interval b) { return Interval{a.low * b.low, a.high * b.high}; });
  if (isa<arith::AndIOp>(op))
    return combine([](Interval a, Interval b) { return Interval{0, std::min(a.high, b.high)}; });
  if (isa<arith::ShRUIOp>(op)) {
    APInt amount;
    if (matchPattern(op->getOperand(1), m_ConstantInt(&amount)) && amount.ult(width) &&
        width - amount.getZExtValue() <= 8)
      byType = Interval{0, (1 << (width - amount.getZExtValue())) - 1};
    return combine([](Interval a, Interval b) { return Interval{0, a.high >> b.low}; });
  }
  if (isa<arith::SelectOp>(op)) {
    std::optional<Interval> a = of(1), b = of(2);
    if (a && b)
      return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  return byType;
}

std::optional<SmallTable> mtc::cpu::findSmallTable(KernelLoadOp load, const LinearForm &form) {
  RankedTensorType operand = load.getSource().getType();
  auto rest = dyn_cast<AffineConstantExpr>(form.rest);
  if (load.getGuard() || load.getSymbols().size() != 1 || form.symbols[0] != 1 || !rest ||
      form.dependence() != 0 || !operand.getElementType().isF32())
    return std::nullopt;
  auto extension = load.getSymbols()[0].getDefiningOp<arith::ExtUIOp>();
  if (!extension || extension.getIn().getType().getIntOrFloatBitWidth() > 32)
    return std::nullopt;
  std::optional<Interval> range = rangeOf(extension.getIn());
  if (!range)
    return std::nullopt;
  int64_t size = kRegister;
  while (range->low / size != range->high / size)
    size *= 2;
  int64_t first = rest.getValue() + range->low / size * size;
  if (size > kMaxTable || first < 0 || first + size > operand.getNumElements())
    return std::nullopt;
  return SmallTable{first, size, extension.getIn()};
}

/// Emits the lookup of one register of indices.
static Value lookUpRegister(ImplicitLocOpBuilder &b, ArrayRef<Value> table, Value numbers) {
  auto type = VectorType::get({kRegister}, b.getF32Type());
  auto permute = [&](StringRef name, ValueRange operands) -> Value {
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands).getResult(0);
  };
  if (table.size() == 1)
    return permute("llvm.x86.avx512.permvar.sf.512", {table[0], numbers});
  SmallVector<Value> entries;
  for (size_t i = 0; i < table.size(); i += 2)
    entries.push_back(
        permute("llvm.x86.avx512.vpermi2var.ps.512", {table[i], numbers, table[i + 1]}));
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(cast<VectorType>(numbers.getType()), b.getI32IntegerAttr(value)));
  };
  for (int32_t bit = 2 * kRegister; entries.size() > 1; bit *= 2) {
    Value isSet = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, numbers, constant(bit)), constant(0));
    SmallVector<Value> halves;
    for (size_t i = 0; i < entries.size(); i += 2)
      halves.push_back(arith::SelectOp::create(b, isSet, entries[i + 1], entries[i]));
    entries = std::move(halves);
  }
  return entries.front();
}

Value mtc::cpu::lookUp(ImplicitLocOpBuilder &b, const SmallTable &table, Value address,
                       Value numbers) {
  auto type = VectorType::get({kRegister}, b.getF32Type());
  SmallVector<Value> registers;
  for (int64_t i = 0; i < table.size; i += kRegister) {
    Value part = LLVM::GEPOp::create(b, address.getType(), b.getF32Type(), address,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    registers.push_back(LLVM::LoadOp::create(b, type, part, /*alignment=*/4));
  }
  int64_t lanes = cast<VectorType>(numbers.getType()).getNumElements();
  if (lanes == kRegister)
    return lookUpRegister(b, registers, numbers);
  auto all = VectorType::get({lanes}, b.getF32Type());
  Value result = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(all)));
  const int64_t one = 1;
  for (int64_t lane = 0; lane < lanes; lane += kRegister) {
    Value part = vector::ExtractStridedSliceOp::create(
        b, numbers, ArrayRef<int64_t>{lane}, ArrayRef<int64_t>{kRegister}, ArrayRef<int64_t>{one});
    result = vector::InsertStridedSliceOp::create(b, lookUpRegister(b, registers, part), result,
                                                  ArrayRef<int64_t>{lane}, ArrayRef<int64_t>{one});
  }
  return result;
}

bool mtc::cpu::isTableOfBytes(const SmallTable &table, int64_t lanes) {
  return table.size == kMaxTable && lanes == kBytes && table.number.getType().isInteger(8);
}

static Value addressAt(ImplicitLocOpBuilder &b, Value base, Type element, int64_t i) {
  return LLVM::GEPOp::create(b, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
}

Value mtc::cpu::storeBytePlanes(ImplicitLocOpBuilder &b, const SmallTable &table, Value address) {
  auto words = VectorType::get({kBytes}, b.getI32Type());
  Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(kPlanes * table.size));
  Value planes = LLVM::AllocaOp::create(b, address.getType(), b.getI8Type(), count, kBytes);
  for (int64_t first = 0; first < table.size; first += kBytes) {
    Value elements = LLVM::LoadOp::create(b, words, addressAt(b, address, b.getI32Type(), first),
                                          /*alignment=*/4);
    for (int64_t plane = 0; plane < kPlanes; ++plane) {
      Value shift = arith::ConstantOp::create(
          b, DenseElementsAttr::get(words, b.getI32IntegerAttr(static_cast<int32_t>(8 * plane))));
      Value bytes = arith::TruncIOp::create(b, words.clone(b.getI8Type()),
                                            arith::ShRUIOp::create(b, elements, shift));
      LLVM::StoreOp::create(
          b, bytes, addressAt(b, planes, b.getI8Type(), plane * table.size + first), kBytes);
    }
  }
  return planes;
}

/// Interleaves the lower or the upper halves of each 128 bits of two registers.
static Value interleave(ImplicitLocOpBuilder &b, Value x, Value y, bool upper) {
  int64_t lanes = cast<VectorType>(x.getType()).getNumElements(), block = lanes / 4;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; i += block)
    for (int64_t j = 0; j < block / 2; ++j) {
      int64_t source = i + j + (upper ? block / 2 : 0);
      order.append({source, lanes + source});
    }
  return vector::ShuffleOp::create(b, x, y, order);
}

/// The interleaved registers have 4 lanes of each 16 in each 128 bits, so the indices are permuted
/// before the lookup.
Value mtc::cpu::lookUpBytes(ImplicitLocOpBuilder &b, Value planes, Value numbers) {
  auto bytes = VectorType::get({kBytes}, b.getI8Type());
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < kBytes; ++i)
    order.push_back(i / 4 % 4 * 16 + i / 16 * 4 + i % 4);
  numbers = vector::ShuffleOp::create(b, numbers, numbers, order);
  Value isUpper =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, numbers,
                            arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(bytes))));
  auto part = [&](int64_t i) -> Value {
    return LLVM::LoadOp::create(b, bytes, addressAt(b, planes, b.getI8Type(), i * kBytes), kBytes);
  };
  auto permute = [&](int64_t i) -> Value {
    return LLVM::CallIntrinsicOp::create(b, bytes,
                                         b.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
                                         {part(i), numbers, part(i + 1)})
        .getResult(0);
  };
  SmallVector<Value> found;
  for (int64_t i = 0; i < kPlanes * kMaxTable / kBytes; i += 4)
    found.push_back(arith::SelectOp::create(b, isUpper, permute(i + 2), permute(i)));
  auto all = VectorType::get({kBytes}, b.getF32Type());
  auto halves = VectorType::get({kBytes / 2}, b.getI16Type());
  auto single = VectorType::get({kRegister}, b.getF32Type());
  Value result = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(all)));
  int64_t lane = 0;
  const int64_t one = 1;
  for (bool upperBytes : {false, true}) {
    auto pair = [&](int64_t i) -> Value {
      return vector::BitCastOp::create(b, halves,
                                       interleave(b, found[i], found[i + 1], upperBytes));
    };
    Value low = pair(0), high = pair(2);
    for (bool upperHalves : {false, true}) {
      Value part = vector::BitCastOp::create(b, single, interleave(b, low, high, upperHalves));
      result = vector::InsertStridedSliceOp::create(b, part, result, ArrayRef<int64_t>{lane},
                                                    ArrayRef<int64_t>{one});
      lane += kRegister;
    }
  }
  return result;
}
