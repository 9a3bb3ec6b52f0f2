//===- Pieces.h - Sizes of the pieces that ranks own ------------------------------------------===//

#ifndef MTC_PASSES_SHARDING_PIECES_H
#define MTC_PASSES_SHARDING_PIECES_H

#include "ir/ReservedNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"

namespace mtc {

/// Pieces of variables are multiples of this many elements, so that blocks of quantized state and
/// of gradient norms are not divided, and pieces are aligned in the arena. They must not depend on
/// the number of ranks.
inline constexpr int64_t pieceBlock = 256;

/// Maximum number of bytes of several gradients or parameters that are sent together.
inline constexpr int64_t defaultBucketBytes = 25 << 20;

/// Returns the type of one of `ranks` pieces of a tensor.
inline mlir::RankedTensorType pieceTypeOf(mlir::RankedTensorType whole, int64_t ranks) {
  const auto piece = static_cast<int64_t>(
      llvm::alignTo(llvm::divideCeil(whole.getNumElements(), ranks), pieceBlock));
  return mlir::RankedTensorType::get({piece}, whole.getElementType());
}

/// Returns the number of elements of the blocks of a variable of which this many ranks or fewer
/// have parts: a power of two, at most `most`, so that no part and no piece divides a block.
/// `chunks` is the finest division; null: the variable has no parts.
inline int64_t blockWithin(AxisSplitAttr chunks, mlir::RankedTensorType whole, int64_t most) {
  int64_t block = most;
  if (chunks)
    while (chunks.getRunOf(whole) % block != 0)
      block /= 2;
  return block;
}

/// Returns the micro-steps of a module: @micro_step, or those of the chunks of a pipeline stage.
inline llvm::SmallVector<mlir::func::FuncOp> findMicroSteps(mlir::ModuleOp module) {
  return llvm::to_vector(
      llvm::make_filter_range(module.getOps<mlir::func::FuncOp>(), [](mlir::func::FuncOp function) {
        return isMicroStep(function.getSymName());
      }));
}

/// Returns whether each rank adds the gradients of its micro-steps in place, since no other rank
/// has samples of its own. A program with one rank exchanges pieces with itself, to test a
/// transport.
inline bool addsGradientsInPlace(ProgramOp program) {
  RanksAttr ranks = program.getRanksAttr();
  return ranks && ranks.getDataGroup().count == 1 && ranks.getShard() == Shard::None &&
         program.getMicroSteps() > 1 && !program.reducesInUpdate() &&
         (ranks.getSharingRanks() > 1 || ranks.getPipeline() > 0);
}

} // namespace mtc

#endif // MTC_PASSES_SHARDING_PIECES_H
