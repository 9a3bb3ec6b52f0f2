// Descriptors of matrix multiplications, and algorithm selection.
#include "runtime/calls/contraction/cuda/matmul.h"

#include "runtime/devices/cuda/workspace.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime::cuda {

using namespace gpu;

static constexpr const char *cannot = "cuBLASLt cannot describe a contraction";

/// Returns the library's name of a type for which there is a plan.
static ScalarType scalarType(uint32_t type) {
  return std::find_if(std::begin(blasTypes), std::end(blasTypes),
                      [&](const BlasType &each) { return each.type == type; })
      ->scalar;
}

/// Returns the largest power of two that divides a number of bytes, up to the maximum alignment
/// that the library exploits.
static uint32_t alignmentOf(uint64_t bytes) {
  constexpr uint64_t maxAlignment = 256;
  const uint64_t divisor = bytes | maxAlignment;
  return static_cast<uint32_t>(divisor & (~divisor + 1));
}

Matmul::Matmul(const Blas &blas, const MatmulPlan &plan, std::vector<Address> callBuffers,
               Address scratch, int64_t scratchBytes, MtcCudaPrecision precision)
    : blas(blas), plan(plan), buffers(std::move(callBuffers)), workspace(workspaceFrom(scratch)),
      workspaceBytes(scratchBytes - static_cast<int64_t>(workspace - scratch)), a(layout(plan.a)),
      b(layout(plan.b)), c(layout(plan.c.value_or(plan.d))), d(layout(plan.d)) {
  describe(precision);
  choose();
}

uint32_t Matmul::typeOf(uint32_t buffer) const {
  return buffer == plan.a.buffer || buffer == plan.b.buffer ? plan.type : plan.resultType;
}

Address Matmul::address(uint32_t buffer, int64_t call) const {
  return buffers[buffer] +
         static_cast<Address>(plan.offset(buffer, call) * typeBytes(typeOf(buffer)));
}

Matmul::Owned<MatrixLayoutHandle> Matmul::layout(const MatrixView &matrix) const {
  MatrixLayoutHandle handle = nullptr;
  const BlasLt &library = blas.library;
  blas.check(library.createLayout(&handle, scalarType(typeOf(matrix.buffer)),
                                  static_cast<uint64_t>(matrix.rows),
                                  static_cast<uint64_t>(matrix.columns), matrix.leading),
             cannot);
  Owned<MatrixLayoutHandle> result(handle, library.destroyLayout);
  const auto count = static_cast<int32_t>(plan.batch);
  blas.check(library.setLayout(handle, batchCount, &count, sizeof count), cannot);
  blas.check(library.setLayout(handle, batchStride, &matrix.batchStride, sizeof matrix.batchStride),
             cannot);
  return result;
}

void Matmul::describe(MtcCudaPrecision precision) {
  const bool isRounded = plan.type == MTC_F32 && precision == MTC_CUDA_TF32;
  const int compute = plan.type == MTC_F64 ? computeF64 : isRounded ? computeTf32 : computeF32;
  MatmulDescription handle = nullptr;
  const BlasLt &library = blas.library;
  blas.check(library.createDescription(&handle, compute, plan.type == MTC_F64 ? blasF64 : blasF32),
             cannot);
  description = Owned<MatmulDescription>(handle, library.destroyDescription);
  auto set = [&](DescriptionAttribute attribute, const auto &value) {
    blas.check(library.setDescription(handle, attribute, &value, sizeof value), cannot);
  };
  if (plan.a.transposed)
    set(transposeA, transposedOperand);
  if (plan.b.transposed)
    set(transposeB, transposedOperand);
  if (const uint32_t kind = plan.epilogue | (plan.bias ? uint32_t{biasEpilogue} : 0))
    set(epilogue, kind);
  if (plan.auxiliary) {
    set(auxiliaryPointer, address(*plan.auxiliary));
    set(auxiliaryLeading, plan.d.leading);
    set(auxiliaryBatchStride, plan.d.batchStride);
  }
  if (plan.sums)
    set(biasPointer, address(*plan.sums));
  if (plan.bias) {
    set(biasPointer, address(plan.bias->buffer));
    set(biasBatchStride, plan.bias->batchStride);
  }
}

/// Returns the description of an epilogue in a message, with the flag that disables it.
static const char *epilogueText(const MatmulPlan &plan) {
  if (plan.epilogue & (geluEpilogue | geluGradientEpilogue))
    return " with an activation (a program compiled with --skip-pass mtc-fuse-activations has "
           "none)";
  return plan.epilogue ? " with the sums of an operand (a program compiled with --skip-pass "
                         "mtc-fuse-bias-gradients has none)"
                       : "";
}

void Matmul::choose() {
  const BlasLt &library = blas.library;
  MatmulPreference handle = nullptr;
  blas.check(library.createPreference(&handle), cannot);
  Owned<MatmulPreference> preference(handle, library.destroyPreference);
  auto set = [&](PreferenceAttribute attribute, const auto &value) {
    blas.check(library.setPreference(handle, attribute, &value, sizeof value), cannot);
  };
  // Each call starts at an offset given by the strides of the outer axes.
  auto alignment = [&](uint32_t buffer) {
    uint32_t result = alignmentOf(address(buffer));
    for (const BatchAxis &axis : plan.outer)
      result = std::min(result, alignmentOf(static_cast<uint64_t>(plan.stride(axis, buffer) *
                                                                  typeBytes(typeOf(buffer)))));
    return result;
  };
  set(maxWorkspace, static_cast<uint64_t>(workspaceBytes));
  // Partial sums of split-K are added in a fixed order, without rounding them first.
  set(reductionSchemes, reduceApart);
  set(alignmentA, alignment(plan.a.buffer));
  set(alignmentB, alignment(plan.b.buffer));
  set(alignmentC, alignment(plan.c.value_or(plan.d).buffer));
  set(alignmentD, alignment(plan.d.buffer));
  MatmulHeuristic best = {};
  int found = 0;
  int status = library.findAlgorithms(blas.handle, description.get(), a.get(), b.get(), c.get(),
                                      d.get(), handle, 1, &best, &found);
  if (status != 0 || found == 0 || best.status != 0)
    systemError("cuBLASLt has no algorithm on this GPU for a contraction of ", typeName(plan.type),
                ", ", plan.d.columns, " x ", plan.d.rows, " x ",
                plan.a.transposed ? plan.a.rows : plan.a.columns, ", batch ", plan.batch,
                epilogueText(plan), ": ", library.statusText(status));
  algorithm = best.algorithm;
}

void Matmul::enqueue(Stream stream) const {
  const double doubles[] = {1, plan.c ? 1.0 : 0.0};
  const float floats[] = {1, plan.c ? 1.0f : 0.0f};
  const bool isDouble = plan.type == MTC_F64;
  const void *alpha = isDouble ? static_cast<const void *>(&doubles[0]) : &floats[0];
  const void *beta = isDouble ? static_cast<const void *>(&doubles[1]) : &floats[1];
  auto at = [&](uint32_t buffer, int64_t call) {
    return reinterpret_cast<void *>(address(buffer, call));
  };
  for (int64_t call = 0; call < plan.calls(); ++call)
    blas.check(blas.library.matmul(blas.handle, description.get(), alpha, at(plan.a.buffer, call),
                                   a.get(), at(plan.b.buffer, call), b.get(), beta,
                                   at(plan.c.value_or(plan.d).buffer, call), c.get(),
                                   at(plan.d.buffer, call), d.get(), &algorithm,
                                   reinterpret_cast<void *>(workspace),
                                   static_cast<size_t>(workspaceBytes), stream),
               "cuBLASLt cannot run a contraction");
}

std::string Matmul::implementation() const {
  return plan.calls() > 1 ? text("cublasLt, ", plan.calls(), " calls") : "cublasLt";
}

static std::unique_ptr<PreparedCall> prepareContraction(const CallContext &context,
                                                        const MtcCall &call) {
  std::optional<MatmulPlan> plan =
      planMatmul(*static_cast<const MtcContraction *>(call.description));
  if (!plan)
    systemError("cuBLASLt does not compute this contraction; compile the program again with this "
                "version of mtc");
  return std::make_unique<Matmul>(context.libraries.openBlas(), *plan, context.buffers,
                                  context.scratch, call.scratch_bytes, context.precision);
}

const CallKind contractionCalls = {MTC_CONTRACTION, prepareContraction};

} // namespace mtc::runtime::cuda
