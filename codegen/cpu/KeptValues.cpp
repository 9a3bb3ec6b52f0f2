//===- KeptValues.cpp - Reuse of a row's values after its reductions --------------------------===//

#include "codegen/cpu/KeptValues.h"

#include "codegen/kernels/Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cpu;

namespace {

/// The minimum number of recomputed operations for which buffering pays off, and the weight of a
/// table lookup.
constexpr int64_t kManyOperations = 12, kOperationsOfLookup = 8;
/// The maximum size of a row's buffers, so that they stay in the L1 cache.
constexpr int64_t kMaxBytes = 16 << 10;
constexpr uint32_t kAlignment = 64;

class Chooser {
public:
  Chooser(const NormalKernel &kernel, unsigned dim) : kernel(kernel), dim(dim) {}

  /// Returns the values that the first pass computes and later passes use, or nothing if
  /// recomputing them is cheap.
  SmallVector<Value> run() {
    for (Value operand : Reductions(kernel, 1).operands)
      collect(operand, first, [](Value) { return false; });
    llvm::SetVector<Value> later;
    KernelYieldOp yield = kernel.yield;
    SmallVector<Value> targets(yield.getValues());
    for (unsigned level = 2; level <= kernel.levels; ++level)
      llvm::append_range(targets, Reductions(kernel, level).operands);
    llvm::SetVector<Value> kept;
    for (Value target : targets)
      collect(target, later, [&](Value value) {
        return first.contains(value) && isWork(value) && (kept.insert(value), true);
      });
    llvm::SetVector<Value> saved;
    for (Value value : kept)
      collect(value, saved, [](Value) { return false; });
    int64_t operations = 0;
    for (Value value : saved) {
      auto load = value.getDefiningOp<KernelLoadOp>();
      operations += load && !load.getSymbols().empty() ? kOperationsOfLookup : 1;
    }
    if (operations < kManyOperations)
      return {};
    return SmallVector<Value>(kept.begin(), kept.end());
  }

private:
  bool varies(Value value) const { return contains(kernel.values.lookup(value).dims, dim); }

  /// Excludes selects, comparisons and sign operations, which are cheaper than memory accesses.
  static bool isWork(Value value) {
    Operation *op = value.getDefiningOp();
    return value.getType().isF32() &&
           isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
           !isa<arith::SelectOp, math::AbsFOp, arith::NegFOp>(op);
  }

  /// Collects the values that a value is computed from and that vary along the row, up to `isEnd`.
  void collect(Value value, llvm::SetVector<Value> &found, llvm::function_ref<bool(Value)> isEnd) {
    if (isa<BlockArgument>(value) || !varies(value) || found.contains(value) || isEnd(value))
      return;
    found.insert(value);
    for (Value operand : value.getDefiningOp()->getOperands())
      collect(operand, found, isEnd);
  }

  const NormalKernel &kernel;
  unsigned dim;
  llvm::SetVector<Value> first;
};

} // namespace

KeptValues::KeptValues(const NormalKernel &kernel, const LoopPlan &plan) {
  if (!plan.vectorIsReduced(kernel) || plan.reducedDims.size() != 1 || kernel.levels == 0 ||
      kernel.scatters())
    return;
  dim = *plan.vectorDim;
  extent = llvm::alignTo(kernel.space[dim], plan.lanes);
  values = Chooser(kernel, dim).run();
  if (static_cast<int64_t>(values.size()) * extent * 4 > kMaxBytes)
    values.clear();
}

void KeptValues::allocate(ImplicitLocOpBuilder &b) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  for (size_t i = 0; i < values.size(); ++i) {
    Value count = arith::ConstantOp::create(b, b.getI64IntegerAttr(extent));
    places.push_back(LLVM::AllocaOp::create(b, pointer, b.getF32Type(), count, kAlignment));
  }
}

Value KeptValues::address(ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter,
                          unsigned i) const {
  return LLVM::GEPOp::create(b, places[i].getType(), b.getF32Type(), places[i],
                             emitter.getState().dims[dim]);
}

void KeptValues::store(ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter) const {
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, emitter.getLanes(value), address(b, emitter, i), /*alignment=*/4);
}

void KeptValues::load(ImplicitLocOpBuilder &b, VectorIterationEmitter &emitter) const {
  auto type = VectorType::get({emitter.getState().lanes}, b.getF32Type());
  for (auto [i, value] : llvm::enumerate(values))
    emitter.define(value, LLVM::LoadOp::create(b, type, address(b, emitter, i), /*alignment=*/4));
}
