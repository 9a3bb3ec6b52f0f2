//===- ComputeInReaders.cpp - Recomputation of results in late users --------------------------===//

#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/kernels/KernelSlice.h"
#include "passes/kernels/ProducerInliner.h"
#include "passes/kernels/ReaderIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace mtc {
#define GEN_PASS_DEF_COMPUTEINREADERS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class ComputeInReadersPass : public mtc::impl::ComputeInReadersBase<ComputeInReadersPass> {
public:
  using ComputeInReadersBase::ComputeInReadersBase;

private:
  void runOnOperation() override {
    ReaderIndex index(getOperation().front());
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels)
      for (unsigned result = 0; kernel && result < kernel->getNumResults();) {
        if (!computeInReaders(kernel, result, index)) {
          ++result;
          continue;
        }
        remark::passed(kernel.getLoc(),
                       remark::RemarkOpts::name("computed-in-readers").category(getArgument()))
            << remark::metric("bytes", bytesOf(kernel->getResult(result)));
        kernel = dropResult(kernel, result, index);
      }
  }

  /// Removes a result without users; null if the kernel has no other result.
  static KernelOp dropResult(KernelOp kernel, unsigned result, ReaderIndex &index) {
    const int64_t position = index.remove(kernel);
    if (kernel->getNumResults() == 1) {
      kernel.erase();
      return nullptr;
    }
    KernelOp smaller = withoutResult(kernel, result);
    index.insert(smaller, position);
    return smaller;
  }

  /// Recomputes the result in all users; returns false if that is not possible.
  bool computeInReaders(KernelOp kernel, unsigned result, ReaderIndex &index) {
    Value value = kernel->getResult(result);
    if (bytesOf(value) < minBytes)
      return false;
    SmallVector<KernelOp> readers;
    for (OpOperand &use : value.getUses()) {
      auto reader = dyn_cast<KernelOp>(use.getOwner());
      if (!reader || llvm::is_contained(readers, reader) || readers.size() == maxReaders)
        return false;
      readers.push_back(reader);
    }
    if (readers.empty() || llvm::none_of(readers, [&](KernelOp reader) {
          return index.hasCallBetween(kernel, reader);
        }))
      return false;
    for (KernelOp reader : readers)
      if (!mayCompute(kernel, result, reader, index))
        return false;
    // All slices depend on the users of the unchanged kernels.
    SmallVector<KernelOp> slices;
    for (KernelOp reader : readers)
      slices.push_back(sliceFor(kernel, result, reader, index));
    for (auto [reader, sliced] : llvm::zip_equal(readers, slices)) {
      const int64_t position = index.remove(reader);
      compute(kernel->getResult(result), sliced, reader);
      index.insert(reader, position);
    }
    return true;
  }

  /// Whether the value is live at the reader anyway, because it or a later operation uses the
  /// value.
  static bool isThereAt(Value value, KernelOp reader, const ReaderIndex &index) {
    Value root = rootOf(value);
    return isa<BlockArgument>(root) || index.isReadFrom(root, reader);
  }

  KernelOp sliceFor(KernelOp kernel, unsigned result, KernelOp reader, const ReaderIndex &index) {
    OpBuilder builder(reader);
    return sliceKernel(builder, kernel, result,
                       [&](Value value) { return isThereAt(value, reader, index); });
  }

  bool mayCompute(KernelOp kernel, unsigned result, KernelOp reader, const ReaderIndex &index) {
    auto input = static_cast<unsigned>(llvm::find(reader.getInputs(), kernel->getResult(result)) -
                                       reader.getInputs().begin());
    BlockArgument argument = reader.getBody().front().getArgument(input);
    mergeLoads(argument);
    SmallVector<KernelLoadOp> loads = loadsOf(argument);
    if (argument == yieldOf(reader).getOnto() || isReadByRows(argument) || loads.size() != 1 ||
        !loads.front().getSymbols().empty())
      return false;
    KernelOp sliced = sliceFor(kernel, result, reader, index);
    if (!sliced)
      return false;
    const bool isPossible =
        canInline(sliced, 0) && pointsOf(reader) <= pointsOf(sliced) &&
        llvm::all_of(sliced.getInputs(),
                     [&](Value value) { return isThereAt(value, reader, index); }) &&
        exceedsLimits(sliced, reader, {maxInputs, maxOperations}).empty();
    sliced.erase();
    return isPossible;
  }

  /// Inlines a kernel that computes `value` into a reader of the value.
  void compute(Value value, KernelOp sliced, KernelOp reader) {
    auto input =
        static_cast<unsigned>(llvm::find(reader.getInputs(), value) - reader.getInputs().begin());
    reader.getInputsMutable()[input].set(sliced->getResult(0));
    inlineProducer(sliced, reader, input);
    for (unsigned i = 0; i < reader.getInputs().size(); ++i)
      while (readThroughView(reader, i)) {
      }
  }

  static constexpr unsigned maxReaders = 2;
};

} // namespace
