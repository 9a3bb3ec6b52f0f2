// The runtime's own contractions with sums in f32. They are used where they are faster than the
// library's, in programs without oneDNN, for 16-bit elements on processors without 16-bit multiply
// instructions, and for matrices in compressed storage.
//
// Operands are converted to f32 while they are packed into panels: blocks of rows of lhs and of
// columns of rhs, in the order in which vector code reads them. Processors with AVX-512 BF16
// multiply operands of bf16, in pairs of terms. Rows that vector code can read in place are not
// packed. The size of the panels is bounded for any operand extents, and equal on every machine.
// Packing supports arbitrary strides. Each element is summed in the same order for any number of
// threads: blocks of at most 768 terms, or of twice as many in pairs, then the addends with the
// first block, or after the last one if the result has 16 bits. Long sums of small results consist
// of parts, whose number depends on the shape, and which are added in order before the addends.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <array>
#include <cstdint>
#include <memory>

namespace mtc::runtime {

/// The windows of a channels-last tensor as a matrix [groups][positions][taps * channels], which is
/// not in memory: packing reads the tensor. Elements outside the tensor are 0.
struct PatchMatrix {
  static constexpr int axes = 3;
  using Extents = std::array<int64_t, axes>;

  int64_t batch, groups, channels; ///< channels of one group
  Extents positions, kernel,
      source; ///< extents of the windows' positions and taps, and the tensor's
  Extents strides, dilations, before;
  /// If set, tap k of position p reads element (p + before - k * dilation) / stride where this is
  /// an integer; otherwise element p * stride + k * dilation - before.
  bool isAdjoint;

  int64_t rows() const { return batch * positions[0] * positions[1] * positions[2]; }
  int64_t columns() const { return kernel[0] * kernel[1] * kernel[2] * channels; }
};

/// Returns a contraction whose lhs or rhs is a matrix of patches of its operand. The layouts are
/// those of `problem`, where that matrix is dense; `contraction` has the types.
std::unique_ptr<LibraryCall> createPatchContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem,
                                                    const PatchMatrix &patches, bool areRhs,
                                                    int threads, VectorSet set);

/// Returns null for f64, and for f32 without terms to sum. The result is bit-identical for any
/// number of threads.
std::unique_ptr<LibraryCall> createPanelContraction(const MtcContraction &contraction,
                                                    const ContractionProblem &problem, int threads,
                                                    VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_PANELS_H
