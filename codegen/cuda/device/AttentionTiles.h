//===- AttentionTiles.h - The tiles of the device's attention kernels -------------------------===//
//
// Read by the compiler, which plans launches, and by the device's code.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_ATTENTIONTILES_H
#define MTC_CODEGEN_CUDA_DEVICE_ATTENTIONTILES_H

namespace mtc::cuda {

/// A block keeps `rows` lines of one side (queries, or keys) and goes through those of the other in
/// tiles of `columns`. Lines are padded to `width` elements in shared memory, and then by 16 bytes,
/// so that neighbouring lines lie in other banks.
struct AttentionTiles {
  int rows, columns;
  int rowsOfThread; ///< each `threads() / threadsOfRow` rows away from the next
  int threadsOfRow; ///< that hold one row of scores together: neighbours in a warp
  int keptTiles;    ///< of rows: one of queries, or two
  int elementBytes; ///< of what is summed: 4 or 8
  int width;

  constexpr int threads() const { return rows / rowsOfThread * threadsOfRow; }
  constexpr int columnsOfThread() const { return columns / threadsOfRow; }
  /// Elements of a vector access.
  constexpr int lanes() const { return 16 / elementBytes; }
  constexpr int lineStride() const { return width + lanes(); }
  constexpr int scoreStride() const { return columns + lanes(); }
  /// Kept tiles, two passing tiles, a tile of scores.
  constexpr int sharedBytes() const {
    return ((keptTiles * rows + 2 * columns) * lineStride() + rows * scoreStride()) * elementBytes;
  }
};

/// The widths that kernels exist for; a head is padded to the next one.
constexpr int paddedWidth(int elementBytes, long width) {
  return width <= 32 ? 32 : width <= 64 ? 64 : width <= 128 && elementBytes == 4 ? 128 : 0;
}

/// How scores are multiplied: by each thread in the precision of the sums, or by tensor cores in
/// products of a warp, whose operands are rounded to tf32.
enum class Products { Plain, Tf32 };

/// Tiles that fit into the 48 KiB that a block has without asking for more, and a thread's part of
/// them into its registers.
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

/// Backward a warp holds the gradients of sixteen keys and values, which in wide heads are more
/// than its registers.
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
