// A contraction as cuBLASLt computes it.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H

#include "runtime/abi/contraction.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime::cuda {

/// A column-major matrix in one of the contraction's buffers, as its record numbers them.
struct MatrixView {
  uint32_t buffer;
  int64_t rows, columns, leading;
  int64_t batchStride; ///< in elements; 0: the same in each entry
  bool transposed;     ///< what enters the product is its transpose
};

/// d = a * b, + c where there is one, + bias for each column where there is one. What is row-major
/// to a program is column-major transposed to the library: d is the transpose of `out`, a that of
/// the contraction's rhs, b that of its lhs.
struct MatmulPlan {
  uint32_t type;       ///< of a and b
  uint32_t resultType; ///< of all else
  MatrixView a, b, d;
  std::optional<MatrixView> c; ///< in out's buffer where the contraction accumulates
  struct Bias {
    uint32_t buffer;
    int64_t batchStride;
  };
  std::optional<Bias> bias; ///< d.rows elements, one after another
  uint32_t epilogue = 0;    ///< as `Epilogue` in blas_lt.h numbers it, without the bias
  /// What the epilogue writes or reads besides: a matrix that lies as d does, a vector.
  std::optional<uint32_t> auxiliary, sums;
  int64_t batch = 1; ///< entries of one call
  /// Batch axes that one call does not take: there is a call for each of their entries.
  std::vector<BatchAxis> outer;
  bool swapped = false; ///< lhs and rhs are exchanged

  int64_t calls() const;
  /// Elements between the entries of an outer axis in a buffer.
  int64_t stride(const BatchAxis &axis, uint32_t buffer) const;
  /// Elements between call number `call` and the first in a buffer.
  int64_t offset(uint32_t buffer, int64_t call) const;
};

/// Nothing if cuBLASLt cannot compute it: a matrix without a unit stride, two matrices or two
/// vectors to add, an element type that it does not have, a sum over nothing; an epilogue with
/// outer batch axes, in f64, with what it does not go together with, or whose matrix lies badly;
/// an addend of another type than the result's.
std::optional<MatmulPlan> planMatmul(const MtcContraction &contraction);

/// Bytes of workspace that the library may use. The sum over k is split for it, into at most 16
/// parts that are added afterwards; more than 32 MiB, what cuBLAS takes on Hopper, is not worth it.
int64_t workspaceBytes(const MatmulPlan &plan);

extern const CallPlanner contractionPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CUDA_MATMUL_PLAN_H
