// Attention and its gradient as graphs of cuDNN's operations.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H
#define MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cuda/dnn_graph.h"

namespace mtc::runtime::cuda {

/// Numbers of the tensors that a run gives.
enum AttentionTensor : int64_t {
  queryTensor = 1,
  keyTensor,
  valueTensor,
  outTensor,
  logsumexpTensor,
  dOutTensor,
  dQueryTensor,
  dKeyTensor,
  dValueTensor,
  offsetsTensor,  ///< of a gradient: f32 numbers that it writes and reads
  scaleTensor,    ///< f32 by value, of every call
  oneTensor,      ///< f32 by value, of a gradient
  noScoreTensor,  ///< f32 by value, of a call that `isMasked`: -inf
  diagonalTensor, ///< i32 by value, of such a call whose causal offset is not 0
};

/// Whether some key takes no part in some row.
bool isMasked(const MtcAttention &attention);

/// Adds a call that `planDnnAttention` takes. cuDNN knows the composition of operations, whose
/// order and element types are therefore not free; it is that of NVIDIA's cudnn-frontend.
void addAttention(dnn::OperationGraph &graph, const MtcAttention &attention);
/// With d_query written by the last product, which makes its sums' order fixed.
void addAttentionGradient(dnn::OperationGraph &graph, const MtcAttention &attention);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H
