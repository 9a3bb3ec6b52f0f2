//===- Decompose.cpp - Larger operations written in the core ----------------------------------===//

#include "ir/TensorBuilder.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct DecomposePass : mtc::impl::DecomposeBase<DecomposePass> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override;
};

} // namespace

/// Operations below `root` that are to be decomposed, in their order.
static SmallVector<DecomposableOpInterface> collect(Operation *root, bool libraryCalls) {
  SmallVector<DecomposableOpInterface> found;
  root->walk([&](DecomposableOpInterface op) {
    auto call = dyn_cast<LibraryCallOpInterface>(*op);
    if (libraryCalls || !call || !call.isLibraryCall())
      found.push_back(op);
  });
  return found;
}

void DecomposePass::runOnOperation() {
  // Again, because what replaces an operation may be decomposable too.
  for (auto found = collect(getOperation(), libraryCalls); !found.empty();
       found = collect(getOperation(), libraryCalls))
    for (DecomposableOpInterface op : found) {
      OpBuilder builder(op);
      TensorBuilder b(op.getLoc(), builder);
      op->replaceAllUsesWith(op.decompose(b));
      op->erase();
    }
}
