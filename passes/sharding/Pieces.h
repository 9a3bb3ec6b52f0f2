//===- Pieces.h - Sizes of the pieces that ranks own ------------------------------------------===//

#ifndef MTC_PASSES_SHARDING_PIECES_H
#define MTC_PASSES_SHARDING_PIECES_H

#include "ir/Mtc.h"

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

} // namespace mtc

#endif // MTC_PASSES_SHARDING_PIECES_H
