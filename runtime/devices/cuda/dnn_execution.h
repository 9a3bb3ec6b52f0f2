// An executable cuDNN operation graph with bound memory.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H

#include "runtime/devices/cuda/dnn_handle.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime::cuda {

/// Constraints on the engine configuration of a graph.
struct DnnLimits {
  int64_t workspaceBytes;
  uint32_t refusedNotes = 0; ///< dnn::Note
  std::vector<dnn::Heuristics> heuristics = {dnn::best};
};

/// The tensors of an execution by their IDs in the graph. Tensors passed by value are in host
/// memory and are read at each execution.
using DnnTensors = std::vector<std::pair<int64_t, const void *>>;

class DnnExecution {
public:
  /// Returns the library's best configuration within the limits that has code for the handle's
  /// device; nullopt if there is none. Throws a system error if the library rejects the graph.
  static std::optional<DnnExecution> choose(const Dnn &dnn, dnn::OperationGraph graph,
                                            const DnnLimits &limits);

  void bind(const DnnTensors &tensors, gpu::Address workspace);
  /// Throws a system error that names `what` if the library fails to run the graph.
  void enqueue(gpu::Stream stream, const char *what) const;
  /// Returns the name of the implementation, for profiles.
  std::string implementation() const;

private:
  DnnExecution(const Dnn &dnn, dnn::OperationGraph graph, dnn::Descriptor operations,
               dnn::Descriptor plan, int64_t engine)
      : dnn(&dnn), graph(std::move(graph)), operations(std::move(operations)),
        plan(std::move(plan)), pack(dnn.library, dnn::variantPackKind), engine(engine) {}

  const Dnn *dnn;
  dnn::OperationGraph graph;
  dnn::Descriptor operations, plan, pack;
  int64_t engine;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H
