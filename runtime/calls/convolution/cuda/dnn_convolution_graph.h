// Convolution and its adjoints as graphs of cuDNN's operations.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cuda/dnn_graph.h"

namespace mtc::runtime::cuda {

/// Numbers of the tensors that a run gives.
enum ConvolutionTensor : int64_t {
  inputTensor = 1,
  weightsTensor,
  outputTensor,
  biasTensor,
  addendTensor
};

/// Adds a call that `planDnnConvolution` takes. The weights' axes are in the program's order, which
/// is not that of the other tensors; the library lays them out anew in its workspace where a kernel
/// of its needs that. It knows an epilogue in this order: the addend, the bias, the activation.
void addConvolution(dnn::OperationGraph &graph, const MtcConvolution &convolution,
                    Computed computed);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CUDA_DNN_CONVOLUTION_GRAPH_H
