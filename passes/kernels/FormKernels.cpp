//===- FormKernels.cpp - Lowering of operations to kernels ------------------------------------===//

#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace mtc {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

bool isSplatConstant(Operation *op) {
  DenseElementsAttr elements;
  return matchPattern(op, m_Constant(&elements)) && elements.isSplat();
}

class FormKernelsPass : public mtc::impl::FormKernelsBase<FormKernelsPass> {
  void runOnOperation() override {
    for (auto op : llvm::to_vector(getOperation().getOps<ConcatenateOp>()))
      splitWide(op);
    SmallVector<FusibleOpInterface> operations;
    SmallVector<Operation *> splats;
    getOperation().walk([&](Operation *op) {
      if (isSplatConstant(op))
        splats.push_back(op);
      else if (auto fusible = dyn_cast<FusibleOpInterface>(op);
               fusible && !op->hasTrait<OpTrait::ConstantLike>() && !op->hasTrait<mtc::View>() &&
               fusible.getFusibleShape() != FusibleShape::Opaque)
        operations.push_back(fusible);
    });
    // Splats are lowered last, when kernels have absorbed them as scalars.
    for (FusibleOpInterface op : operations)
      replaceByKernel(op);
    mergeConstants();
    for (Operation *splat : splats) {
      if (splat->use_empty())
        splat->erase();
      else
        replaceByKernel(cast<FusibleOpInterface>(splat));
    }
    if (failed(checkCounts()))
      signalPassFailure();
  }

  /// Reports kernels with more iterations than later passes can count.
  LogicalResult checkCounts() {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (!countElements(kernel.getSpace()))
        return emitError(kernel.getLoc(), "its computation has ")
               << toText(kernel.getSpace()) << " iterations, more than 64 bits can count";
    return success();
  }

  /// concatenate(x0, x1, …) => concatenate(concatenate(x0, …), …). A kernel evaluates the guarded
  /// loads of all operands for each element, so the work and the code of one kernel would grow with
  /// the square of the number of operands.
  void splitWide(ConcatenateOp op) {
    constexpr size_t maxOperands = 32;
    const SmallVector<Value> operands(op.getInputs());
    if (operands.size() <= maxOperands)
      return;
    const auto width =
        std::max(maxOperands,
                 static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(operands.size())))));
    OpBuilder builder(op);
    TensorBuilder b(op.getLoc(), builder);
    SmallVector<Value> groups;
    for (ArrayRef<Value> rest = operands; !rest.empty();
         rest = rest.drop_front(std::min(width, rest.size())))
      groups.push_back(b.concatenate(rest.take_front(width), op.getAxis()));
    op.replaceAllUsesWith(b.concatenate(groups, op.getAxis()));
    op.erase();
  }

  /// Merges equal constant tables, such as quantization maps.
  void mergeConstants() {
    DenseMap<Attribute, mtc::ConstantOp> known;
    Block &block = getOperation().front();
    for (auto op : llvm::make_early_inc_range(block.getOps<mtc::ConstantOp>())) {
      if (isSplatConstant(op))
        continue;
      auto [first, isNew] = known.try_emplace(op.getValue(), op);
      if (isNew) {
        op->moveBefore(&block, block.begin());
        continue;
      }
      op.replaceAllUsesWith(first->second.getResult());
      op.erase();
    }
  }
};

} // namespace
