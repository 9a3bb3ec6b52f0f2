//===- TensorTile.h - Tile multiplication with tensor cores -----------------------------------===//
//
// A warp owns sixteen rows of the kept tile. It multiplies with mma.m16n8k8 of the PTX ISA ("Matrix
// Fragments for mma.m16n8k8"): of each 16 x 8 result, a thread holds two adjacent elements of rows
// lane / 4 and lane / 4 + 8. Operands are loaded from shared memory element by element. The line
// stride is a multiple of 32 elements plus 4, so the elements of a fragment are in different banks.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_TENSORTILE_H
#define MTC_CODEGEN_CUDA_DEVICE_TENSORTILE_H

#include "codegen/cuda/device/Tile.h"

extern "C" {
/// sums += a * b for the warp's 16 x 8 and 8 x 8 tf32 elements. The compiler defines the function,
/// since C++ has no name for the instruction.
void mtc_multiply_tf32(float *sums, int32_t a0, int32_t a1, int32_t a2, int32_t a3, int32_t b0,
                       int32_t b1);
}

namespace mtc::cuda::device {

/// Tensor-core implementation of the interface of PlainMath.
template <typename Sum, const AttentionTiles &tiles> struct TensorMath : TileMemory<Sum, tiles> {
  using Memory = TileMemory<Sum, tiles>;
  using Memory::columnCount, Memory::columns, Memory::lineStride, Memory::rowCount,
      Memory::scoreStride, Memory::width;
  using typename Memory::Scores, typename Memory::Shared;
  static constexpr int partLanes = 2, parts = width / 8;
  static_assert(rowCount == 2 && Memory::threadsOfRow == 4);

  /// The thread's position in its warp: four threads share a row.
  static int line() { return threadIndex() % 32 / 4; }
  static int place() { return threadIndex() % 4; }
  static int firstRow() { return threadIndex() / 32 * 16; }

  static int row(int i) { return firstRow() + line() + i * 8; }
  static int column(int j) { return j / 2 * 8 + place() * 2 + j % 2; }
  static int part(int p) { return p * 8 + place() * 2; }

  static int32_t rounded(Sum x) { return __nvvm_f2tf32_rna(x); }

  /// A fragment of sixteen lines of eight elements starting at `at`.
  struct Rows {
    int32_t elements[4];
    Rows(Shared at, int stride) {
      MTC_UNROLL for (int e = 0; e < 4; ++e) elements[e] =
          rounded(at[(line() + e % 2 * 8) * stride + place() + e / 2 * 4]);
    }
  };
  static void add(float *sums, const Rows &rows, Sum first, Sum second) {
    mtc_multiply_tf32(sums, rows.elements[0], rows.elements[1], rows.elements[2], rows.elements[3],
                      rounded(first), rounded(second));
  }

  static Scores multiply(Shared kept, Shared passing) {
    float sums[columns / 8][4] = {};
#pragma clang loop unroll_count(2)
    for (int d = 0; d < width; d += 8) {
      const Rows ofRows(kept + firstRow() * lineStride + d, lineStride);
      MTC_UNROLL for (int n = 0; n < columns / 8; ++n) {
        const Shared ofColumn = passing + (n * 8 + line()) * lineStride + d + place();
        add(sums[n], ofRows, ofColumn[0], ofColumn[4]);
      }
    }
    Scores scores;
    MTC_UNROLL for (int i = 0; i < rowCount; ++i) MTC_UNROLL for (int j = 0; j < columnCount; ++j)
        scores.at[i][j] = sums[j / 2][i * 2 + j % 2];
    return scores;
  }

  struct Mixture {
    Vector<Sum, partLanes> at[rowCount][parts];
  };
  static void mix(const Scores &weights, Shared exchanged, Shared passing, Mixture &sums) {
    warpBarrier();
    MTC_UNROLL for (int i = 0; i < rowCount; ++i) MTC_UNROLL for (int j = 0; j < columnCount; ++j)
        exchanged[row(i) * scoreStride + column(j)] = weights.at[i][j];
    warpBarrier();
    float all[parts][4];
    MTC_UNROLL for (int p = 0; p < parts; ++p) MTC_UNROLL for (int e = 0; e < 4; ++e) all[p][e] =
        sums.at[e / 2][p][e % 2];
#pragma clang loop unroll_count(1)
    for (int k = 0; k < columns; k += 8) {
      const Rows ofRows(exchanged + firstRow() * scoreStride + k, scoreStride);
      MTC_UNROLL for (int p = 0; p < parts; ++p) {
        const Shared ofPart = passing + (k + place()) * lineStride + p * 8 + line();
        add(all[p], ofRows, ofPart[0], ofPart[4 * lineStride]);
      }
    }
    MTC_UNROLL for (int p = 0; p < parts; ++p) MTC_UNROLL for (int e = 0; e < 4; ++e)
        sums.at[e / 2][p][e % 2] = all[p][e];
  }
};

} // namespace mtc::cuda::device

#endif // MTC_CODEGEN_CUDA_DEVICE_TENSORTILE_H
