// Convolution and its adjoints as cuDNN operation graphs.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cuda/dnn_graph.h"

namespace mtc::runtime::cuda {

/// Unique IDs of the tensors that are bound at execution.
enum ConvolutionTensor : int64_t {
  inputTensor = 1,
  weightsTensor,
  outputTensor,
  biasTensor,
  addendTensor
};

/// Adds a call that `planDnnConvolution` accepts to the graph. The axes of the weights are in the
/// program's order, which differs from that of the other tensors; the library transposes the
/// weights in its workspace if a kernel requires another layout. The library supports epilogues in
/// this order only: addend, bias, activation.
void addConvolution(dnn::OperationGraph &graph, const MtcConvolution &convolution,
                    Computed computed);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H
