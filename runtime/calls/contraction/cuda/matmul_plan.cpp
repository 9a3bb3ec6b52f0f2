// Maps strided tensors to column-major matrices.
#include "runtime/calls/contraction/cuda/matmul_plan.h"

#include "runtime/calls/contraction/plain.h"
#include "runtime/devices/cuda/blas_lt.h"
#include "runtime/devices/cuda/workspace.h"

#include <algorithm>

namespace mtc::runtime::cuda {

int64_t MatmulPlan::calls() const {
  int64_t count = 1;
  for (const BatchAxis &axis : outer)
    count *= axis.extent;
  return count;
}

int64_t MatmulPlan::stride(const BatchAxis &axis, uint32_t buffer) const {
  const uint32_t lhs = swapped ? 1 : 0, rhs = 1 - lhs;
  return buffer == lhs        ? axis.lhs
         : buffer == rhs      ? axis.rhs
         : buffer == d.buffer ? axis.out
                              : axis.addends[buffer - 2];
}

int64_t MatmulPlan::offset(uint32_t buffer, int64_t call) const {
  int64_t result = 0;
  for (size_t i = outer.size(); i-- > 0; call /= outer[i].extent)
    result += call % outer[i].extent * stride(outer[i], buffer);
  return result;
}

int64_t MatmulPlan::alignment() const {
  int64_t lengths = 16;
  for (const MatrixView &matrix : {a, b, c.value_or(d), d}) {
    lengths |= matrix.rows | matrix.batchStride;
    if (matrix.columns > 1)
      lengths |= matrix.leading;
  }
  return lengths & -lengths;
}

static bool isLibraryType(uint32_t type) {
  return std::any_of(std::begin(blasTypes), std::end(blasTypes),
                     [&](const BlasType &each) { return each.type == type; });
}

/// Returns the transpose of a matrix as a column-major one; nullopt if neither stride is 1.
static std::optional<MatrixView> transposeOf(const MatrixLayout &matrix, uint32_t buffer,
                                             int64_t batchStride) {
  if (matrix.columnStride == 1 && matrix.rowStride >= matrix.columns)
    return MatrixView{buffer, matrix.columns, matrix.rows, matrix.rowStride, batchStride, false};
  if (matrix.rowStride == 1 && matrix.columnStride >= matrix.rows)
    return MatrixView{buffer, matrix.rows, matrix.columns, matrix.columnStride, batchStride, true};
  return std::nullopt;
}

static bool addMatrix(MatmulPlan &plan, const MatrixLayout &addend, uint32_t buffer,
                      int64_t batchStride) {
  if (plan.c || addend.columnStride != 1 || addend.rowStride < addend.columns)
    return false;
  plan.c = MatrixView{buffer, addend.columns, addend.rows, addend.rowStride, batchStride, false};
  return true;
}

/// Adds a bias vector. The library does not support it in f64, and the plan does not support a
/// different vector for each entry of the outer axes.
static bool addBias(MatmulPlan &plan, const MatrixLayout &addend, uint32_t buffer,
                    int64_t batchStride) {
  const bool isVector = (addend.rowStride == 0 || addend.rows == 1) &&
                        (addend.columnStride == 1 || addend.columns == 1);
  const bool changes =
      std::any_of(plan.outer.begin(), plan.outer.end(),
                  [&](const BatchAxis &axis) { return axis.addends[buffer - 2] != 0; });
  if (plan.bias || !isVector || changes || plan.type == MTC_F64)
    return false;
  plan.bias = MatmulPlan::Bias{buffer, batchStride};
  return true;
}

/// Adds an epilogue. The library's epilogues are mutually exclusive, except for a bias before a
/// forward activation and the sums of GELU's gradient. NVIDIA requires the leading dimension and
/// the batch stride of an auxiliary matrix to be multiples of 8 elements.
static bool addEpilogue(MatmulPlan &plan, const MtcContraction &contraction) {
  const bool isGradient = contraction.activation == MTC_GELU_GRADIENT;
  const bool hasActivation = contraction.activation != MTC_NO_ACTIVATION;
  const bool sumsResult = contraction.summed == MTC_RESULT_SUMMED;
  const bool sumsOperand = contraction.summed != MTC_NOTHING_SUMMED && !sumsResult;
  if (!hasActivation && !sumsResult && !sumsOperand && !contraction.has_auxiliary)
    return true;
  // The library's ReLU gives 0 for NaN (13.1, on an H200).
  if (contraction.activation == MTC_RELU)
    return false;
  if (plan.type == MTC_F64 || !plan.outer.empty() || (hasActivation && plan.c) ||
      (plan.bias && (isGradient || sumsOperand)))
    return false;
  if ((contraction.has_auxiliary && contraction.activation != MTC_GELU) ||
      (sumsResult && (!isGradient || plan.swapped)) || (sumsOperand && hasActivation) ||
      (contraction.summed != MTC_NOTHING_SUMMED && plan.batch != 1))
    return false;
  if (contraction.activation == MTC_GELU)
    plan.epilogue = geluEpilogue;
  else if (isGradient)
    plan.epilogue = geluGradientEpilogue;
  if (isGradient || contraction.has_auxiliary) {
    if (plan.d.leading % 8 != 0 || plan.d.batchStride % 8 != 0)
      return false;
    plan.epilogue |= auxiliaryEpilogue;
    plan.auxiliary = isGradient ? plan.d.buffer - 1 : plan.d.buffer + 1;
  }
  if (sumsResult)
    plan.epilogue |= biasGradientEpilogue;
  else if (sumsOperand)
    plan.epilogue = (contraction.summed == MTC_LHS_SUMMED ? 0u : 1u) == plan.a.buffer
                        ? biasGradientAEpilogue
                        : biasGradientBEpilogue;
  if (sumsResult || sumsOperand)
    plan.sums = plan.d.buffer + (contraction.has_auxiliary ? 2 : 1);
  return true;
}

std::optional<MatmulPlan> planMatmul(const MtcContraction &contraction) {
  ContractionProblem problem = simplifyContraction(contraction);
  const bool isStored = contraction.lhs_storage || contraction.rhs_storage;
  if (isStored || !isUniform(contraction) || !isLibraryType(contraction.lhs_type) ||
      problem.isEmpty() || problem.k() == 0)
    return std::nullopt;
  MatmulPlan plan = {};
  plan.type = contraction.lhs_type;
  plan.resultType = contraction.out_type;
  plan.swapped = problem.swapped;
  plan.outer = problem.batch;
  BatchAxis inner = {1, 0, 0, 0};
  if (!plan.outer.empty()) {
    // Batching the longest axis minimizes the number of calls.
    auto longest = std::max_element(
        plan.outer.begin(), plan.outer.end(),
        [](const BatchAxis &a, const BatchAxis &b) { return a.extent < b.extent; });
    inner = *longest;
    plan.outer.erase(longest);
  }
  plan.batch = inner.extent;
  const uint32_t lhs = problem.swapped ? 1 : 0;
  const uint32_t out = 2 + contraction.addend_count + (contraction.activation == MTC_GELU_GRADIENT);
  auto a = transposeOf(problem.rhs, 1 - lhs, inner.rhs),
       b = transposeOf(problem.lhs, lhs, inner.lhs);
  if (!a || !b || !problem.out.isRowMajor())
    return std::nullopt;
  plan.a = *a;
  plan.b = *b;
  plan.d = {out, problem.n(), problem.m(), problem.out.rowStride, inner.out, false};
  if (contraction.accumulate)
    plan.c = plan.d;
  for (uint32_t i = 0; i < contraction.addend_count; ++i) {
    if (contraction.addend_types[i] != contraction.out_type)
      return std::nullopt;
    if (!addMatrix(plan, problem.addends[i], 2 + i, inner.addends[i]) &&
        !addBias(plan, problem.addends[i], 2 + i, inner.addends[i]))
      return std::nullopt;
  }
  if (!addEpilogue(plan, contraction))
    return std::nullopt;
  return plan;
}

int64_t scratchBytes(const MatmulPlan &plan) {
  constexpr int64_t parts = 16, minBytes = int64_t{64} << 10, maxBytes = int64_t{32} << 20;
  constexpr int64_t longSum = 8192;
  const int64_t k = plan.a.transposed ? plan.a.rows : plan.a.columns;
  if (plan.type == MTC_F32 && k >= longSum)
    return workspaceSlack + maxBytes;
  const int64_t elementBytes = plan.type == MTC_F64 ? 8 : 4; // size of the accumulator
  const int64_t elements = plan.d.rows * plan.d.columns * plan.batch;
  return workspaceSlack +
         std::clamp(elements / MTC_ALIGNMENT * MTC_ALIGNMENT * parts * elementBytes, minBytes,
                    maxBytes);
}

static int64_t scratchBytes(const void *record) {
  std::optional<MatmulPlan> plan = planMatmul(*static_cast<const MtcContraction *>(record));
  return plan ? scratchBytes(*plan) : -1;
}

/// cuBLASLt does not document how its epilogues treat NaN and how accurate its GELU is, so
/// activations are supported only at precisions below f32.
static int supportLevel(const void *record, MtcCudaPrecision precision) {
  const auto &contraction = *static_cast<const MtcContraction *>(record);
  const bool isExact = contraction.lhs_type == MTC_F32 && precision == MTC_CUDA_F32;
  std::optional<MatmulPlan> plan = planMatmul(contraction);
  if (!plan || (isExact && contraction.activation != MTC_NO_ACTIVATION))
    return 0;
  return plan->calls() > 1 ? 1 : 2;
}

/// Tensor cores are fed with vectors of 16 bytes. Measured on an H200 with cuBLASLt 13, as the
/// rates of 8192 x N x 768, and of its gradients, for N = 50257, 50258 and 50260 relative to 50264.
static double efficiency(const void *record, MtcCudaPrecision precision) {
  const auto &contraction = *static_cast<const MtcContraction *>(record);
  std::optional<MatmulPlan> plan = planMatmul(contraction);
  const bool is16Bits = mtc_is_narrow_float(contraction.lhs_type);
  const bool isTf32 = contraction.lhs_type == MTC_F32 && precision == MTC_CUDA_TF32;
  if (!plan || !(is16Bits || isTf32))
    return 1;
  const int64_t bytes = plan->alignment() * (is16Bits ? 2 : 4);
  return bytes >= 16 ? 1 : bytes >= 4 ? 0.3 : 0.15;
}

const CallPlanner contractionPlanner = {MTC_CONTRACTION, "cublasLt", scratchBytes, supportLevel,
                                        efficiency};

} // namespace mtc::runtime::cuda
