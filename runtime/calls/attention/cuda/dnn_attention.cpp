// Runs attention graphs.
#include "runtime/calls/attention/cuda/dnn_attention.h"

#include "runtime/calls/attention/cuda/dnn_attention_graph.h"
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"
#include "runtime/devices/cuda/workspace.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mtc::runtime::cuda {

using namespace gpu;

DnnAttention::DnnAttention(const MtcAttention &a)
    : scalars{static_cast<float>(a.scale), 1, -std::numeric_limits<float>::infinity(),
              static_cast<int32_t>(a.causal_offset)} {}

std::unique_ptr<DnnAttention> DnnAttention::create(const Dnn &dnn, const MtcAttention &attention,
                                                   bool isGradient,
                                                   const std::vector<Address> &buffers,
                                                   Address scratch, int64_t scratchBytes) {
  const int64_t offsets = isGradient ? offsetsBytes(attention) : 0;
  const bool isAligned =
      std::all_of(buffers.begin(), buffers.end(), [](Address buffer) { return buffer % 16 == 0; });
  const Address workspace = workspaceFrom(scratch + static_cast<Address>(offsets));
  const int64_t workspaceBytes = scratchBytes - static_cast<int64_t>(workspace - scratch);
  if (!planDnnAttention(attention, isGradient) || !isAligned || workspaceBytes < 0)
    return nullptr;
  std::unique_ptr<DnnAttention> result(new DnnAttention(attention));
  try {
    dnn::OperationGraph graph(dnn.library);
    isGradient ? addAttentionGradient(graph, attention) : addAttention(graph, attention);
    auto execution =
        DnnExecution::choose(dnn, std::move(graph), {.workspaceBytes = workspaceBytes});
    if (!execution)
      return nullptr;
    execution->bind(result->tensors(attention, isGradient, buffers, scratch), workspace);
    result->execution.emplace(std::move(*execution));
  } catch (const Failure &) {
    return nullptr; // the library rejects the graph
  }
  return result;
}

DnnTensors DnnAttention::tensors(const MtcAttention &attention, bool isGradient,
                                 const std::vector<Address> &buffers, Address scratch) const {
  // The offsets (buffer 4 of a gradient) are recomputed by the graph.
  static constexpr int64_t none = 0;
  const std::vector<int64_t> order =
      isGradient
          ? std::vector<int64_t>{queryTensor, keyTensor,   valueTensor, logsumexpTensor,
                                 none,        dOutTensor,  outTensor,   dQueryTensor,
                                 dKeyTensor,  dValueTensor}
          : std::vector<int64_t>{queryTensor, keyTensor, valueTensor, outTensor, logsumexpTensor};
  DnnTensors result;
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != none)
      result.push_back({order[i], reinterpret_cast<const void *>(buffers[i])});
  result.push_back({scaleTensor, &scalars.scale});
  if (isMasked(attention))
    result.push_back({noScoreTensor, &scalars.noScore});
  if (isMasked(attention) && attention.causal_offset != 0)
    result.push_back({diagonalTensor, &scalars.diagonal});
  if (isGradient) {
    result.push_back({offsetsTensor, reinterpret_cast<const void *>(scratch)});
    result.push_back({oneTensor, &scalars.one});
  }
  return result;
}

void DnnAttention::enqueue(Stream stream) const { execution->enqueue(stream, "an attention"); }

std::string DnnAttention::implementation() const { return execution->implementation(); }

template <bool isGradient>
static std::unique_ptr<PreparedCall> prepareAttention(const CallContext &context,
                                                      const MtcCall &call) {
  const auto &attention = *static_cast<const MtcAttention *>(call.description);
  if (!dnn::isPreferred() || !planDnnAttention(attention, isGradient))
    return nullptr;
  const Dnn *dnn = context.libraries.openDnn();
  return dnn ? DnnAttention::create(*dnn, attention, isGradient, context.buffers, context.scratch,
                                    call.scratch_bytes)
             : nullptr;
}

const CallKind attentionCalls = {MTC_ATTENTION, prepareAttention<false>};
const CallKind attentionGradientCalls = {MTC_ATTENTION_GRADIENT, prepareAttention<true>};

} // namespace mtc::runtime::cuda
