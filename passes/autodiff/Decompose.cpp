//===- Decompose.cpp - Decomposition into core operations -------------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class DecomposePass : public mtc::impl::DecomposeBase<DecomposePass> {
public:
  using DecomposeBase::DecomposeBase;

private:
  void runOnOperation() override;

  /// Returns whether a library of the target computes the operation, with any number of threads.
  bool isComputed(Operation *op) {
    auto call = dyn_cast<LibraryCallOpInterface>(op);
    return !libraryCalls && call && call.isLibraryCall() && target.getSupportLevel(call) > 0 &&
           target.getScratchBytes(call, std::nullopt) >= 0;
  }

  /// Returns the operations to decompose, in program order.
  SmallVector<DecomposableOpInterface> collect() {
    SmallVector<DecomposableOpInterface> found;
    getOperation().walk([&](DecomposableOpInterface op) {
      if (!isComputed(op) && !llvm::is_contained(keep, op->getName().getStringRef()))
        found.push_back(op);
    });
    return found;
  }

  TargetInfo target;
};

} // namespace

void DecomposePass::runOnOperation() {
  target = TargetInfo::of(getOperation());
  // Repeats until nothing is found, since a decomposition may contain decomposable operations.
  for (auto found = collect(); !found.empty(); found = collect())
    for (DecomposableOpInterface op : found) {
      if (std::string reason = op.refuseDecomposition(); !reason.empty()) {
        emitError(op.getLoc(), reason);
        return signalPassFailure();
      }
      OpBuilder builder(op);
      TensorBuilder b(op.getLoc(), builder);
      op->replaceAllUsesWith(op.decompose(b));
      op->erase();
    }
}
