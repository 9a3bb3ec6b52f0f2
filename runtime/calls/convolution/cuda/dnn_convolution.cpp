// Runs convolution graphs, and reports calls that no library computes.
#include "runtime/calls/convolution/cuda/dnn_convolution.h"

#include "runtime/calls/convolution/cuda/dnn_convolution_graph.h"
#include "runtime/calls/convolution/cuda/dnn_convolution_plan.h"
#include "runtime/devices/cuda/workspace.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>

namespace mtc::runtime::cuda {

using namespace gpu;

uint32_t refusedNotes(const MtcConvolution &convolution, MtcCudaPrecision precision) {
  uint32_t refused = dnn::isNondeterministic | dnn::roundsSums;
  if (convolution.type == MTC_F32)
    refused |= dnn::roundsInputs;
  if (convolution.type == MTC_F32 && precision == MTC_CUDA_F32)
    refused |= dnn::usesTensorCores;
  return refused;
}

/// Returns the tensor IDs of a call's operands and result, in order.
static std::vector<int64_t> tensorsOf(const MtcConvolution &c, Computed computed) {
  std::vector<int64_t> forward = {inputTensor, weightsTensor};
  switch (computed) {
  case Computed::Output:
    if (c.has_bias)
      forward.push_back(biasTensor);
    if (c.has_addend)
      forward.push_back(addendTensor);
    forward.push_back(outputTensor);
    return forward;
  case Computed::Input:
    return {outputTensor, weightsTensor, inputTensor};
  case Computed::Weights:
    break;
  }
  return {inputTensor, outputTensor, weightsTensor};
}

std::unique_ptr<DnnConvolution>
DnnConvolution::create(const Dnn &dnn, const MtcConvolution &convolution, Computed computed,
                       MtcCudaPrecision precision, const std::vector<Address> &buffers,
                       Address scratch, int64_t scratchBytes) {
  const Address workspace = workspaceFrom(scratch);
  const int64_t workspaceBytes = scratchBytes - static_cast<int64_t>(workspace - scratch);
  const bool isAligned =
      std::all_of(buffers.begin(), buffers.end(), [](Address buffer) { return buffer % 16 == 0; });
  if (!isAligned || workspaceBytes < 0)
    return nullptr;
  dnn::OperationGraph graph(dnn.library);
  addConvolution(graph, convolution, computed);
  auto execution = DnnExecution::choose(dnn, std::move(graph),
                                        {.workspaceBytes = workspaceBytes,
                                         .refusedNotes = refusedNotes(convolution, precision),
                                         .heuristics = {dnn::best, dnn::fallback}});
  if (!execution)
    return nullptr;
  DnnTensors tensors;
  const std::vector<int64_t> ids = tensorsOf(convolution, computed);
  for (size_t i = 0; i < ids.size(); ++i)
    tensors.push_back({ids[i], reinterpret_cast<const void *>(buffers[i])});
  execution->bind(tensors, workspace);
  return std::unique_ptr<DnnConvolution>(new DnnConvolution(std::move(*execution)));
}

static constexpr const char *withoutDnn =
    "A program that is compiled with --no-cudnn computes its convolutions by itself";

template <Computed computed>
static std::unique_ptr<PreparedCall> prepareConvolution(const CallContext &context,
                                                        const MtcCall &call) {
  const auto &convolution = *static_cast<const MtcConvolution *>(call.description);
  const Dnn *dnn = context.libraries.openDnn();
  if (!dnn)
    systemError("a convolution is computed by cuDNN, version 9.19 or later, which ",
                dnn::openLibrary() ? "cannot be started on this GPU" : dnn::describeAbsence(),
                ". It comes with NVIDIA's package libcudnn9-cuda-13, or with PyPI's "
                "nvidia-cudnn-cu13; if it is elsewhere, set MTC_CUDA_PATH to its folder. ",
                withoutDnn);
  auto prepared = DnnConvolution::create(*dnn, convolution, computed, context.precision,
                                         context.buffers, context.scratch, call.scratch_bytes);
  if (!prepared)
    systemError("cuDNN has no kernel for this GPU that computes a convolution of ",
                typeName(convolution.type), " in ", call.scratch_bytes,
                " bytes of workspace, and is deterministic. ", withoutDnn);
  return prepared;
}

const CallKind convolutionCalls = {MTC_CONVOLUTION, prepareConvolution<Computed::Output>};
const CallKind transposedConvolutionCalls = {MTC_TRANSPOSED_CONVOLUTION,
                                             prepareConvolution<Computed::Input>};
const CallKind convolutionWeightGradientCalls = {MTC_CONVOLUTION_WEIGHT_GRADIENT,
                                                 prepareConvolution<Computed::Weights>};

} // namespace mtc::runtime::cuda
