//===- Tile.h - Tiles in shared memory and their multiplication -------------------------------===//
//
// The math classes hold scores and sums in registers and define which elements belong to a thread:
// rows `row(i)` of the kept tile, columns `column(j)` of the streamed tile, and parts `part(p)` of
// a line. The `threadsOfRow` threads that share a row are adjacent.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICE_TILE_H
#define MTC_CODEGEN_CUDA_DEVICE_TILE_H

#include "codegen/cuda/device/AttentionTiles.h"
#include "codegen/cuda/device/Thread.h"

namespace mtc::cuda::device {

template <typename Element, int lanes>
using Vector = Element __attribute__((ext_vector_type(lanes)));

/// Tile extents, and copies of lines from global to shared memory. `Sum` is the accumulator type.
template <typename Sum, const AttentionTiles &tiles> struct TileMemory {
  static constexpr int rows = tiles.rows, columns = tiles.columns, lanes = tiles.lanes(),
                       rowCount = tiles.rowsOfThread, columnCount = tiles.columnsOfThread(),
                       width = tiles.width, lineStride = tiles.lineStride(),
                       scoreStride = tiles.scoreStride(), threads = tiles.threads(),
                       threadsOfRow = tiles.threadsOfRow;
  using SumVector = Vector<Sum, lanes>;
  using Shared = MTC_SHARED Sum *;

  /// Dot products of the thread's lines of the kept and the streamed tile.
  struct Scores {
    Sum at[rowCount][columnCount];
  };

  static MTC_SHARED SumVector &vectorAt(Shared at) {
    return *reinterpret_cast<MTC_SHARED SumVector *>(at);
  }

  /// Returns whether lines that begin at `start`, `stride` elements apart, can be accessed in whole
  /// vectors.
  template <typename Element>
  static bool isAligned(MTC_GLOBAL const Element *start, int64_t stride, int64_t length) {
    return stride % lanes == 0 && length % lanes == 0 &&
           reinterpret_cast<uintptr_t>(start) % (lanes * sizeof(Element)) == 0;
  }

  /// Stores a vector per thread to consecutive positions of `lineCount` lines, unrolled by
  /// `unroll`.
  template <int lineCount, int unroll> static void forEachVector(const auto &value, Shared to) {
    constexpr int ofLine = width / lanes;
#pragma clang loop unroll_count(unroll)
    for (int k = threadIndex(); k < lineCount * ofLine; k += threads) {
      const int line = k / ofLine, first = k % ofLine * lanes;
      vectorAt(to + line * lineStride + first) = value(line, first);
    }
  }

  /// Loads `count` lines of `length` elements into `lineCount` lines, padded with zeros.
  template <int lineCount, typename Element>
  static void load(MTC_GLOBAL const Element *from, int64_t stride, int64_t count, int64_t length,
                   Shared to) {
    if (isAligned(from, stride, length))
      forEachVector<lineCount, 4>(
          [&](int line, int first) {
            return line < count && first < length
                       ? __builtin_convertvector(
                             *reinterpret_cast<MTC_GLOBAL const Vector<Element, lanes> *>(
                                 from + line * stride + first),
                             SumVector)
                       : SumVector(0);
          },
          to);
    else
      forEachVector<lineCount, 1>(
          [&](int line, int first) {
            SumVector value = 0;
            MTC_UNROLL for (int i = 0; i < lanes; ++i) if (line < count && first + i < length)
                value[i] = static_cast<Sum>(from[line * stride + first + i]);
            return value;
          },
          to);
  }
};

/// Stores the thread's part of row i, times `factor`, to a line of `length` elements.
template <typename Math, typename Element>
void store(const typename Math::Mixture &sums, int i, auto factor, MTC_GLOBAL Element *line,
           int64_t length, bool aligned) {
  constexpr int lanes = Math::partLanes;
  MTC_UNROLL for (int p = 0; p < Math::parts; ++p) {
    const int first = Math::part(p);
    auto value = sums.at[i][p] * factor;
    if (aligned && first < length)
      *reinterpret_cast<MTC_GLOBAL Vector<Element, lanes> *>(line + first) =
          __builtin_convertvector(value, Vector<Element, lanes>);
    else
      MTC_UNROLL for (int e = 0; e < lanes; ++e) if (first + e < length) line[first + e] =
          static_cast<Element>(value[e]);
  }
}

/// Tile multiplication with fused multiply-adds in each thread. A thread's rows and columns are a
/// stride apart, so that adjacent threads read adjacent lines: 16 bytes of eight lines are in
/// different banks.
template <typename Sum, const AttentionTiles &tiles> struct PlainMath : TileMemory<Sum, tiles> {
  using Memory = TileMemory<Sum, tiles>;
  using Memory::columnCount, Memory::columns, Memory::lanes, Memory::lineStride, Memory::rowCount,
      Memory::scoreStride, Memory::threads, Memory::threadsOfRow, Memory::vectorAt, Memory::width;
  using typename Memory::Scores, typename Memory::Shared, typename Memory::SumVector;
  /// The number of vectors of a line that a thread accumulates, and their elements.
  static constexpr int parts = width / (threadsOfRow * lanes), partLanes = lanes;

  static int row(int i) { return threadIndex() / threadsOfRow + i * (threads / threadsOfRow); }
  static int column(int j) { return threadIndex() % threadsOfRow + j * threadsOfRow; }
  static int part(int p) { return (threadIndex() % threadsOfRow + p * threadsOfRow) * lanes; }

  static Scores multiply(Shared kept, Shared passing) {
    Scores scores = {};
#pragma clang loop unroll_count(1)
    for (int d = 0; d < width; d += lanes) {
      SumVector ofRows[rowCount];
      MTC_UNROLL for (int i = 0; i < rowCount; ++i) ofRows[i] =
          vectorAt(kept + row(i) * lineStride + d);
      MTC_UNROLL for (int j = 0; j < columnCount; ++j) {
        SumVector ofColumn = vectorAt(passing + column(j) * lineStride + d);
        MTC_UNROLL for (int i = 0; i < rowCount; ++i) MTC_UNROLL for (int e = 0; e < lanes; ++e)
            scores.at[i][j] += ofRows[i][e] * ofColumn[e];
      }
    }
    return scores;
  }

  /// Weighted sums of streamed lines for the thread's rows.
  struct Mixture {
    SumVector at[rowCount][parts];
  };
  /// Adds streamed lines weighted by scores. The scores are exchanged through `exchanged`, where
  /// each row is written and read by threads of one warp only.
  static void mix(const Scores &weights, Shared exchanged, Shared passing, Mixture &sums) {
    warpBarrier();
    MTC_UNROLL for (int i = 0; i < rowCount; ++i) MTC_UNROLL for (int j = 0; j < columnCount; ++j)
        exchanged[row(i) * scoreStride + column(j)] = weights.at[i][j];
    warpBarrier();
#pragma clang loop unroll_count(1)
    for (int k = 0; k < columns; k += lanes) {
      SumVector ofRows[rowCount];
      MTC_UNROLL for (int i = 0; i < rowCount; ++i) ofRows[i] =
          vectorAt(exchanged + row(i) * scoreStride + k);
      MTC_UNROLL for (int e = 0; e < lanes; ++e) MTC_UNROLL for (int p = 0; p < parts; ++p) {
        SumVector line = vectorAt(passing + (k + e) * lineStride + part(p));
        MTC_UNROLL for (int i = 0; i < rowCount; ++i) sums.at[i][p] += ofRows[i][e] * line;
      }
    }
  }
};

} // namespace mtc::cuda::device

#endif // MTC_CODEGEN_CUDA_DEVICE_TILE_H
