// Describes the multiplications with the recurrent weights.
#include "runtime/calls/recurrence/cuda/recurrence_plan.h"

#include "runtime/abi/recurrence.h"

#include <algorithm>

namespace mtc::runtime::cuda {

namespace {

/// Gates [first, first + count) of a step.
struct Gates {
  int64_t first, count;
};

} // namespace

static void setStrides(int64_t *strides, int64_t first, int64_t second) {
  strides[0] = first;
  strides[1] = second;
}

/// products[:, gates] = h . weights[gates]^T, where `lines` has h.
static StepProduct forwardProduct(const MtcRecurrence &p, Gates gates) {
  MtcContraction c = {};
  mtc_set_contraction_types(&c, p.type);
  c.m = p.batch;
  c.n = gates.count * p.hidden;
  c.k = p.hidden;
  setStrides(c.lhs_strides, p.hidden, 1);
  setStrides(c.rhs_strides, 1, p.hidden);
  setStrides(c.out_strides, mtc_recurrence_gates(p.cell) * p.hidden, 1);
  return {*planMatmul(c), 0, gates.first * p.hidden * p.hidden, gates.first * p.hidden, false};
}

/// out (+)= d[:, gates] . weights[gates], where `lines` has d.
static StepProduct backwardProduct(const MtcRecurrence &p, Gates gates, bool isStateGradient) {
  MtcContraction c = {};
  mtc_set_contraction_types(&c, p.type);
  c.m = p.batch;
  c.n = p.hidden;
  c.k = gates.count * p.hidden;
  setStrides(c.lhs_strides, mtc_recurrence_gates(p.cell) * p.hidden, 1);
  setStrides(c.rhs_strides, p.hidden, 1);
  setStrides(c.out_strides, p.hidden, 1);
  // The part of a GRU's d_state that is not a product is already in memory, so the product is added
  // to it.
  const bool isGru = p.cell == MTC_GRU || p.cell == MTC_GRU_RESET_AFTER;
  c.accumulate = isStateGradient && isGru;
  return {*planMatmul(c), gates.first * p.hidden, gates.first * p.hidden * p.hidden, 0,
          isStateGradient};
}

RecurrencePlan planRecurrence(const MtcRecurrence &p, bool isGradient) {
  const Gates all = {0, mtc_recurrence_gates(p.cell)}, updateAndReset = {0, 2}, candidate = {2, 1};
  RecurrencePlan plan = {};
  if (isGradient && p.cell == MTC_GRU)
    plan.products = {backwardProduct(p, candidate, false),
                     backwardProduct(p, updateAndReset, true)};
  else if (isGradient)
    plan.products = {backwardProduct(p, all, true)};
  else if (p.cell == MTC_GRU)
    plan.products = {forwardProduct(p, updateAndReset), forwardProduct(p, candidate)};
  else
    plan.products = {forwardProduct(p, all)};

  auto bytesOf = [&](int64_t columns) {
    const int64_t bytes = p.batch * columns * p.hidden * (p.type == MTC_F64 ? 8 : 4);
    return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
  };
  const int64_t gates = mtc_recurrence_gates(p.cell);
  plan.linesBytes = bytesOf(isGradient ? gates : 1);
  plan.productsBytes = !isGradient ? bytesOf(gates) : p.cell == MTC_GRU ? bytesOf(1) : 0;
  for (const StepProduct &product : plan.products)
    plan.workspaceBytes = std::max(plan.workspaceBytes, scratchBytes(product.plan));
  return plan;
}

static bool isPlanned(const MtcRecurrence &p) {
  return (p.type == MTC_F32 || p.type == MTC_F64) && p.batch > 0 && p.hidden > 0;
}

template <bool isGradient> static int64_t recurrenceScratch(const void *record) {
  const auto &p = *static_cast<const MtcRecurrence *>(record);
  return isPlanned(p) ? planRecurrence(p, isGradient).scratchBytes() : -1;
}

static int supportLevel(const void *record, MtcCudaPrecision) {
  return isPlanned(*static_cast<const MtcRecurrence *>(record)) ? 2 : 0;
}

const CallPlanner recurrencePlanner = {MTC_RECURRENCE, "cublasLt", recurrenceScratch<false>,
                                       supportLevel};
const CallPlanner recurrenceGradientPlanner = {MTC_RECURRENCE_GRADIENT, "cublasLt",
                                               recurrenceScratch<true>, supportLevel};

} // namespace mtc::runtime::cuda
