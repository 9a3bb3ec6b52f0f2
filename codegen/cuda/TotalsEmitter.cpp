//===- TotalsEmitter.cpp - Groups' sums of columns, added up ----------------------------------===//
//
// Neighbouring threads have neighbouring columns; the members of a column take every so many groups
// each, and one of them adds up what the members found, in their order.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/cuda/LaunchEmitter.h"
#include "codegen/kernels/Storage.h"
#include "ir/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::cuda;

namespace {

class TotalsEmitter {
public:
  TotalsEmitter(LaunchEmitter &e, int64_t groups)
      : e(e), kernel(e.kernel), groups(groups), b(e.b), threads(e.threads) {}

  /// Each total has blocks of its own.
  void run(ArrayRef<unsigned> totals, ArrayRef<int64_t> partials) {
    Value block = threads.block();
    int64_t first = 0;
    for (auto [total, offset] : llvm::zip_equal(totals, partials)) {
      int64_t blocks = llvm::divideCeil(kernel.outputs[total].getNumElements(), kTotalColumns);
      Value isOwn =
          threads.both(first > 0 ? threads.less(threads.index(first - 1), block) : Value(),
                       threads.less(block, first + blocks));
      threads.ifThen(isOwn, [&] { addUp(total, offset, threads.add(block, -first)); });
      first += blocks;
    }
  }

private:
  void addUp(unsigned total, int64_t offset, Value block) {
    Type type = typeOfPartial(kernel, total);
    int64_t elements = kernel.outputs[total].getNumElements();
    Value lane = threads.remainder(threads.thread(), kTotalColumns);
    Value member = threads.divide(threads.thread(), kTotalColumns);
    Value column = threads.add(threads.scale(block, kTotalColumns), lane);
    Value exists = elements % kTotalColumns != 0 ? threads.less(column, elements) : Value();
    Value base = LLVM::GEPOp::create(b, e.scratch.getType(), b.getI8Type(), e.scratch,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    auto addUpOwn = [&](Value group, ValueRange carried) {
      Value at = threads.add(threads.scale(group, elements), column);
      return ThreadBuilder::Values{add(carried[0], load(base, type, at))};
    };
    Value sum = threads.ifThen(exists, zero, [&] {
      return threads.loop(member, threads.index(groups), kTotalMembers, zero, addUpOwn);
    })[0];
    Value shared = threads.allocateShared(type, kTotalColumns * kTotalMembers);
    LLVM::StoreOp::create(b, sum, threads.elementAt(shared, type, threads.thread()));
    threads.barrier();
    threads.ifThen(threads.both(threads.equals(member, 0), exists), [&] {
      Value all = load(shared, type, lane);
      for (int64_t i = 1; i < kTotalMembers; ++i)
        all = add(all, load(shared, type, threads.add(lane, i * kTotalColumns)));
      store(total, column, all);
    });
  }

  Value add(Value x, Value y) { return combineScalars(b, b.getLoc(), ReductionKind::Add, x, y); }

  Value load(Value base, Type type, Value index) {
    return LLVM::LoadOp::create(b, type, threads.elementAt(base, type, index));
  }

  void store(unsigned total, Value column, Value value) {
    Type element = kernel.outputs[total].getElementType();
    Value stored = toStorage(b, value, element);
    LLVM::StoreOp::create(b, stored,
                          threads.elementAt(e.results[total], getStorageType(element), column));
  }

  LaunchEmitter &e;
  const NormalKernel &kernel;
  int64_t groups;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
};

} // namespace

void mtc::cuda::emitTotals(LaunchEmitter &emitter, ArrayRef<unsigned> totals,
                           ArrayRef<int64_t> partials, int64_t groups) {
  TotalsEmitter(emitter, groups).run(totals, partials);
}
