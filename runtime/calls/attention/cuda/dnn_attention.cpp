// The library's choice, and what a run is given.
#include "runtime/calls/attention/cuda/dnn_attention.h"

#include "runtime/calls/attention/cuda/dnn_attention_graph.h"
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mtc::runtime::cuda {

DnnAttention::DnnAttention(const Dnn &dnn, const MtcAttention &a)
    : dnn(dnn), scalars{static_cast<float>(a.scale), 1, -std::numeric_limits<float>::infinity(),
                        static_cast<int32_t>(a.causal_offset)},
      graph(dnn.library) {}

std::unique_ptr<DnnAttention> DnnAttention::create(const Dnn &dnn, const MtcAttention &attention,
                                                   bool isGradient,
                                                   const std::vector<Address> &buffers,
                                                   Address scratch, int64_t scratchBytes) {
  const int64_t offsets = isGradient ? offsetsBytes(attention) : 0;
  const bool isAligned =
      std::all_of(buffers.begin(), buffers.end(), [](Address buffer) { return buffer % 16 == 0; });
  constexpr Address alignment = workspaceAlignment;
  const Address workspace =
      (scratch + static_cast<Address>(offsets) + alignment - 1) / alignment * alignment;
  const int64_t workspaceBytes = scratchBytes - static_cast<int64_t>(workspace - scratch);
  if (!planDnnAttention(attention, isGradient) || !isAligned || workspaceBytes < 0)
    return nullptr;
  std::unique_ptr<DnnAttention> result(new DnnAttention(dnn, attention));
  try {
    if (!result->choose(attention, isGradient, workspaceBytes))
      return nullptr;
    result->bind(attention, isGradient, buffers, scratch, workspace);
  } catch (const Failure &) {
    return nullptr; // it refuses the graph, or has no code for this device
  }
  return result;
}

bool DnnAttention::choose(const MtcAttention &attention, bool isGradient, int64_t workspaceBytes) {
  isGradient ? addAttentionGradient(graph, attention) : addAttention(graph, attention);
  operations = std::make_unique<dnn::Descriptor>(graph.finish());
  dnn::Descriptor device(dnn.library, dnn::deviceKind);
  device.set(dnn::deviceHandle, dnn::handleType, dnn.handle);
  device.finalize();
  for (const DnnChoice &choice : dnnChoices(dnn.library, *operations, device)) {
    auto candidate = std::make_unique<dnn::Descriptor>(dnn.library, dnn::planKind);
    candidate->set(dnn::planConfiguration, choice.configuration);
    candidate->set(dnn::planDevice, device);
    try {
      candidate->finalize();
    } catch (const Failure &) {
      continue; // the next may have code for the device
    }
    if (candidate->number(dnn::planWorkspace) > workspaceBytes)
      continue;
    plan = std::move(candidate);
    engine = choice.engine;
    return true;
  }
  return false;
}

void DnnAttention::bind(const MtcAttention &attention, bool isGradient,
                        const std::vector<Address> &buffers, Address scratch, Address workspace) {
  auto give = [&](int64_t id, void *pointer) {
    ids.push_back(id);
    pointers.push_back(pointer);
  };
  // offsets, in buffer 4 of a gradient, are computed again
  static constexpr int64_t none = 0;
  const std::vector<int64_t> order =
      isGradient
          ? std::vector<int64_t>{queryTensor, keyTensor,   valueTensor, logsumexpTensor,
                                 none,        dOutTensor,  outTensor,   dQueryTensor,
                                 dKeyTensor,  dValueTensor}
          : std::vector<int64_t>{queryTensor, keyTensor, valueTensor, outTensor, logsumexpTensor};
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != none)
      give(order[i], reinterpret_cast<void *>(buffers[i]));
  give(scaleTensor, &scalars.scale);
  if (isMasked(attention))
    give(noScoreTensor, &scalars.noScore);
  if (isMasked(attention) && attention.causal_offset != 0)
    give(diagonalTensor, &scalars.diagonal);
  if (isGradient) {
    give(offsetsTensor, reinterpret_cast<void *>(scratch));
    give(oneTensor, &scalars.one);
  }
  pack = std::make_unique<dnn::Descriptor>(dnn.library, dnn::variantPackKind);
  const auto count = static_cast<int64_t>(ids.size());
  void *const space = reinterpret_cast<void *>(workspace);
  pack->set(dnn::packIds, dnn::int64Type, count, ids.data());
  pack->set(dnn::packPointers, dnn::pointerType, count, pointers.data());
  pack->set(dnn::packWorkspace, dnn::pointerType, space);
  pack->finalize();
}

void DnnAttention::enqueue(Stream stream) const {
  const dnn::Library &library = dnn.library;
  if (library.setStream(dnn.handle, stream) == 0 &&
      library.execute(dnn.handle, plan->get(), pack->get()) == 0)
    return;
  char message[1024] = "";
  library.lastError(message, sizeof message);
  systemError("cuDNN cannot run an attention: ", message);
}

std::string DnnAttention::implementation() const { return text("cudnn, engine ", engine); }

template <bool isGradient>
static std::unique_ptr<PreparedCall> prepareAttention(const CallContext &context,
                                                      const MtcCall &call) {
  const auto &attention = *static_cast<const MtcAttention *>(call.description);
  if (!planDnnAttention(attention, isGradient))
    return nullptr;
  const Dnn *dnn = context.libraries.openDnn();
  return dnn ? DnnAttention::create(*dnn, attention, isGradient, context.buffers, context.scratch,
                                    call.scratch_bytes)
             : nullptr;
}

const CallKind attentionCalls = {MTC_ATTENTION, prepareAttention<false>};
const CallKind attentionGradientCalls = {MTC_ATTENTION_GRADIENT, prepareAttention<true>};

} // namespace mtc::runtime::cuda
