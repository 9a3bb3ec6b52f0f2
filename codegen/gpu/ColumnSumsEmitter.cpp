//===- ColumnSumsEmitter.cpp - Sums of the groups' partial column sums ------------------------===//
//
// Adjacent threads compute adjacent columns. The members of a column divide the groups among
// themselves with a stride, and one member adds up the members' sums in order.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/gpu/LaunchEmitter.h"
#include "codegen/kernels/Storage.h"
#include "ir/builders/Scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

namespace {

class ColumnSumsEmitter {
public:
  ColumnSumsEmitter(LaunchEmitter &e, int64_t groups)
      : e(e), kernel(e.kernel), groups(groups), b(e.b), threads(e.threads) {}

  /// Assigns blocks to each result.
  void run(ArrayRef<unsigned> columnSums, ArrayRef<int64_t> partials) {
    Value block = threads.block();
    shared = threads.allocateShared(b.getI8Type(), bytesOfColumnSums(kernel, columnSums));
    int64_t first = 0;
    for (auto [result, offset] : llvm::zip_equal(columnSums, partials)) {
      int64_t blocks = llvm::divideCeil(kernel.outputs[result].getNumElements(), kSumColumns);
      Value isOwn =
          threads.both(first > 0 ? threads.less(threads.index(first - 1), block) : Value(),
                       threads.less(block, first + blocks));
      threads.ifThen(isOwn, [&] { addUp(result, offset, threads.add(block, -first)); });
      first += blocks;
    }
  }

private:
  void addUp(unsigned result, int64_t offset, Value block) {
    Type type = typeOfPartial(kernel, result);
    int64_t elements = kernel.outputs[result].getNumElements();
    Value lane = threads.remainder(threads.thread(), kSumColumns);
    Value member = threads.divide(threads.thread(), kSumColumns);
    Value column = threads.add(threads.scale(block, kSumColumns), lane);
    Value exists = elements % kSumColumns != 0 ? threads.less(column, elements) : Value();
    Value base = LLVM::GEPOp::create(b, e.scratch.getType(), b.getI8Type(), e.scratch,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    auto addUpOwn = [&](ArrayRef<Value> own, ValueRange carried) {
      ThreadBuilder::Values loaded;
      for (Value group : own)
        loaded.push_back(load(base, type, threads.add(threads.scale(group, elements), column)));
      Value sum = carried[0];
      for (Value value : loaded)
        sum = add(sum, value);
      return ThreadBuilder::Values{sum};
    };
    constexpr int64_t unroll = 8;
    Value sum = threads.ifThen(exists, zero, [&] {
      return threads.unrolledLoop(member, threads.index(groups), kSumMembers,
                                  groups >= unroll * kSumMembers ? unroll : 1, zero, addUpOwn);
    })[0];
    LLVM::StoreOp::create(b, sum, threads.elementAt(shared, type, threads.thread()));
    threads.barrier();
    threads.ifThen(threads.both(threads.equals(member, 0), exists), [&] {
      Value all = load(shared, type, lane);
      for (int64_t i = 1; i < kSumMembers; ++i)
        all = add(all, load(shared, type, threads.add(lane, i * kSumColumns)));
      store(result, column, all);
    });
  }

  Value add(Value x, Value y) { return combineScalars(b, b.getLoc(), ReductionKind::Add, x, y); }

  Value load(Value base, Type type, Value index) {
    return LLVM::LoadOp::create(b, type, threads.elementAt(base, type, index));
  }

  void store(unsigned result, Value column, Value value) {
    Type element = kernel.outputs[result].getElementType();
    Value stored = toStorage(b, value, element);
    LLVM::StoreOp::create(b, stored,
                          threads.elementAt(e.results[result], getStorageType(element), column));
  }

  LaunchEmitter &e;
  const NormalKernel &kernel;
  int64_t groups;
  ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  Value shared; ///< a block computes columns of one result only
};

} // namespace

int64_t mtc::gpu::bytesOfColumnSums(const NormalKernel &kernel, ArrayRef<unsigned> columnSums) {
  int64_t maximum = 0;
  for (unsigned result : columnSums)
    maximum = std::max(maximum, elementBytes(typeOfPartial(kernel, result)));
  return kSumColumns * kSumMembers * maximum;
}

void mtc::gpu::emitColumnSums(LaunchEmitter &emitter, ArrayRef<unsigned> columnSums,
                              ArrayRef<int64_t> partials, int64_t groups) {
  ColumnSumsEmitter(emitter, groups).run(columnSums, partials);
}
