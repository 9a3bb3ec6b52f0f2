// Maps contractions to cuBLASLt matrix multiplications.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime::cuda {

/// A column-major matrix in a buffer of the contraction; `buffer` is its index in the call's
/// operands and results.
struct MatrixView {
  uint32_t buffer;
  int64_t rows, columns, leading;
  int64_t batchStride; ///< in elements; 0: broadcast over the batch
  bool transposed;     ///< the multiplication uses the transpose
};

/// d = a * b [+ c] [+ bias per column]. A row-major matrix of the program is a transposed
/// column-major matrix for the library: d is the transpose of `out`, a that of the contraction's
/// rhs, b that of its lhs.
struct MatmulPlan {
  uint32_t type;       ///< element type of a and b
  uint32_t resultType; ///< element type of all other matrices
  MatrixView a, b, d;
  std::optional<MatrixView> c; ///< in the buffer of `out` if the contraction accumulates
  struct Bias {
    uint32_t buffer;
    int64_t batchStride;
  };
  std::optional<Bias> bias; ///< d.rows contiguous elements
  uint32_t epilogue = 0;    ///< value of `Epilogue` in blas_lt.h, without the bias
  /// Additional buffers of the epilogue: a matrix with the layout of d, and a vector.
  std::optional<uint32_t> auxiliary, sums;
  int64_t batch = 1; ///< batch size of one library call
  /// Batch axes that do not fit into one library call; each of their entries takes a separate call.
  std::vector<BatchAxis> outer;
  bool swapped = false; ///< lhs and rhs are exchanged

  int64_t calls() const;
  /// Returns the elements between two entries of an outer axis in a buffer.
  int64_t stride(const BatchAxis &axis, uint32_t buffer) const;
  /// Returns the greatest power of two, up to 16, of which the rows of all matrices have a multiple
  /// of elements and begin at multiples. Assumes that buffers begin at any multiple.
  int64_t alignment() const;
  /// Returns the offset in elements of library call `call` in a buffer.
  int64_t offset(uint32_t buffer, int64_t call) const;
};

/// Returns the plan, or nullopt if cuBLASLt cannot compute the contraction. Unsupported are: a
/// matrix without a unit stride; two matrices or two vectors as addends; an unsupported element
/// type; an empty reduction; an epilogue in f64, with outer batch axes, with operands that exclude
/// it, or whose matrix has an incompatible layout; an addend whose type is not the result's.
std::optional<MatmulPlan> planMatmul(const MtcContraction &contraction);

/// Returns the bytes to plan for the library's workspace and its alignment. The library splits the
/// sum over k into at most 16 partial sums (split-K), which the workspace holds. A workspace has at
/// most 32 MiB, the default of cuBLAS on Hopper; more brings no benefit. Long sums in f32 get all
/// of it: with 4 MiB instead, a gradient of 256 x 64 x 200704 in tf32 takes 88 times as long on an
/// H200.
int64_t scratchBytes(const MatmulPlan &plan);

extern const CallPlanner contractionPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H
