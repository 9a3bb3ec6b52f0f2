//===- AttentionTiles.h - Tile sizes of the attention kernels ---------------------------------===//
//
// Shared by the compiler, which plans launches, and the device code.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_ATTENTIONTILES_H
#define MTC_CODEGEN_CUDA_DEVICE_ATTENTIONTILES_H

namespace mtc::cuda {

/// A block keeps `rows` lines of one side (queries or keys) and iterates over the other side in
/// tiles of `columns` lines. Lines are padded to `width` elements in shared memory, plus 16 bytes,
/// so that adjacent lines start in different banks.
struct AttentionTiles {
  int rows, columns;
  int rowsOfThread; ///< each `threads() / threadsOfRow` rows apart
  int threadsOfRow; ///< that share one row of scores: adjacent lanes of a warp
  int keptTiles;    ///< kept tiles of `rows` lines: one of queries, or two
  int elementBytes; ///< of the accumulator type: 4 or 8
  int width;

  constexpr int threads() const { return rows / rowsOfThread * threadsOfRow; }
  constexpr int columnsOfThread() const { return columns / threadsOfRow; }
  /// Elements per vector access.
  constexpr int lanes() const { return 16 / elementBytes; }
  constexpr int lineStride() const { return width + lanes(); }
  constexpr int scoreStride() const { return columns + lanes(); }
  /// Shared memory for the kept tiles, two streamed tiles and a tile of scores.
  constexpr int sharedBytes() const {
    return ((keptTiles * rows + 2 * columns) * lineStride() + rows * scoreStride()) * elementBytes;
  }
};

/// Returns the smallest supported width for a head, to which lines are padded; 0 if there is none.
constexpr int paddedWidth(int elementBytes, long width) {
  return width <= 32 ? 32 : width <= 64 ? 64 : width <= 128 && elementBytes == 4 ? 128 : 0;
}

/// How scores are multiplied: by each thread in the accumulator's precision, or by a warp's tensor
/// cores with operands rounded to tf32.
enum class Products { Plain, Tf32 };

/// Returns tiles that fit into the 48 KiB of shared memory available without opt-in, and whose
/// per-thread part fits into registers.
constexpr AttentionTiles attentionTiles(int elementBytes, int width, Products products) {
  const bool isNarrow = width <= 64 && elementBytes == 4;
  if (products == Products::Tf32)
    return isNarrow ? AttentionTiles{64, 32, 2, 4, 1, 4, width}
                    : AttentionTiles{32, 16, 2, 4, 1, 4, width};
  return isNarrow ? AttentionTiles{64, 32, 4, 8, 1, elementBytes, width}
                  : AttentionTiles{32, 16, 2, 8, 1, elementBytes, width};
}
constexpr AttentionTiles attentionGradientTiles(int elementBytes, int width, Products products) {
  const bool isNarrow = width <= 64 && elementBytes == 4;
  if (products == Products::Tf32)
    return {32, 32, 2, 4, 2, 4, width};
  return isNarrow ? AttentionTiles{32, 32, 4, 8, 2, elementBytes, width}
                  : AttentionTiles{16, 16, 2, 8, 2, elementBytes, width};
}

/// In the backward pass a warp accumulates the gradients of sixteen keys and values, which exceed
/// its registers for wide heads.
constexpr bool hasTensorTiles(int width, bool isGradient) { return width <= 64 || !isGradient; }

constexpr bool fitsStaticMemory(int elementBytes, int width, Products products) {
  return attentionTiles(elementBytes, width, products).sharedBytes() <= 48 << 10 &&
         ((products == Products::Tf32 && !hasTensorTiles(width, true)) ||
          attentionGradientTiles(elementBytes, width, products).sharedBytes() <= 48 << 10);
}
static_assert(fitsStaticMemory(4, 64, Products::Plain) &&
              fitsStaticMemory(4, 128, Products::Plain) &&
              fitsStaticMemory(8, 64, Products::Plain) && fitsStaticMemory(4, 64, Products::Tf32) &&
              fitsStaticMemory(4, 128, Products::Tf32));

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICE_ATTENTIONTILES_H
