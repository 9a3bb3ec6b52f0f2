//===- DeviceRecurrence.cpp - Launches of the device code of recurrent layers -----------------===//

#include "codegen/cuda/DeviceCallKinds.h"
#include "codegen/cuda/device/RecurrentCells.h"
#include "runtime/abi/cuda_recurrence.h"
#include "runtime/abi/recurrence.h"

#include <limits>

using namespace llvm;
using namespace mtc;
using namespace mtc::cuda;
using namespace mtc::gpu;

/// Returns the bytes of the parameters, in the order of MtcCudaCell or MtcCudaCellGradient.
static SmallVector<int64_t> cellExtents(const MtcRecurrence &p, bool isGradient,
                                        int64_t elementBytes) {
  const int64_t bias = p.hidden * elementBytes, state = p.batch * bias,
                gates = mtc_recurrence_gates(p.cell) * state;
  if (isGradient)
    return {gates, state, state, state, state, state, state, gates, state, state, state, gates};
  return {gates, gates, state, state, bias, gates, state, state, state};
}
static_assert(sizeof(MtcCudaCell) == 9 * sizeof(uint64_t) &&
              sizeof(MtcCudaCellGradient) == 12 * sizeof(uint64_t));

std::optional<DeviceCall> cuda::planRecurrence(CallAttrInterface call, ContractionPrecision) {
  if (!isa<RecurrenceCallAttr, RecurrenceGradientCallAttr>(call))
    return std::nullopt;
  const auto &p = *reinterpret_cast<const MtcRecurrence *>(call.getBytes().data());
  const bool isGradient = isa<RecurrenceGradientCallAttr>(call);
  if ((p.type != MTC_F32 && p.type != MTC_F64) || p.batch < 1 || p.hidden < 1)
    return std::nullopt;
  const std::string form = p.type == MTC_F32 ? "f32" : "f64";
  // The records of both passes are equal.
  const std::string symbol =
      symbolOf(call, (isGradient ? "recurrence_gradient_" : "recurrence_") + form);
  DeviceCall plan;
  plan.extents = cellExtents(p, isGradient, p.type == MTC_F32 ? 4 : 8);
  auto add = [&](const std::string &suffix, const std::string &entry) {
    Launch launch;
    launch.symbol = symbol + suffix;
    launch.grid[0] = divideCeil(p.batch * p.hidden, cellThreads);
    launch.block[0] = cellThreads;
    plan.parts.push_back({launch, entry + "_" + form});
  };
  add("", isGradient ? "mtc_cell_gradient" : "mtc_cell");
  if (p.cell == MTC_GRU)
    add(isGradient ? "_reset" : "_candidate",
        isGradient ? "mtc_cell_reset_gradient" : "mtc_cell_candidate");
  const bool fits = plan.parts.front().launch.grid[0] <= std::numeric_limits<int32_t>::max();
  return fits ? std::optional(plan) : std::nullopt;
}

SmallVector<Value *> cuda::recurrenceArguments(CallAttrInterface, const Launch &,
                                               Function &kernel) {
  return to_vector_of<Value *>(make_pointer_range(kernel.args()));
}
