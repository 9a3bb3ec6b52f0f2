// Attention and its gradient as cuDNN operation graphs.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H
#define MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cuda/dnn_graph.h"

namespace mtc::runtime::cuda {

/// Unique IDs of the tensors that are bound at execution.
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
  offsetsTensor,  ///< f32, written and read by the gradient
  scaleTensor,    ///< f32 passed by value, in every call
  oneTensor,      ///< f32 passed by value, in the gradient
  noScoreTensor,  ///< f32 passed by value if `isMasked`: -inf
  diagonalTensor, ///< i32 passed by value if `isMasked` and the causal offset is not 0
};

/// Returns whether some query does not attend to some key.
bool isMasked(const MtcAttention &attention);

/// Adds a call that `planDnnAttention` accepts to the graph. cuDNN matches a fixed pattern of
/// operations, so their order and element types are those of NVIDIA's cudnn-frontend.
void addAttention(dnn::OperationGraph &graph, const MtcAttention &attention);
/// Adds the gradient. The last matrix multiplication writes d_query, which makes the order of its
/// summation deterministic.
void addAttentionGradient(dnn::OperationGraph &graph, const MtcAttention &attention);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_GRAPH_H
