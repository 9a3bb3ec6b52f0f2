// A graph of cuDNN's operations, ready to run on given memory.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H

#include "runtime/devices/cuda/dnn_handle.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime::cuda {

/// What a way to run a graph must keep to.
struct DnnLimits {
  int64_t workspaceBytes;
  uint32_t refusedNotes = 0; ///< dnn::Note
  std::vector<dnn::Heuristics> heuristics = {dnn::best};
};

/// The tensors of a run by their numbers in the graph. Those by value lie in the host's memory, and
/// are read at each run.
using DnnTensors = std::vector<std::pair<int64_t, const void *>>;

class DnnExecution {
public:
  /// The best of the library's ways within the limits that has code for the handle's device;
  /// nothing if there is none. A fault of the system if the library refuses the graph.
  static std::optional<DnnExecution> choose(const Dnn &dnn, dnn::OperationGraph graph,
                                            const DnnLimits &limits);

  void bind(const DnnTensors &tensors, Address workspace);
  /// A fault of the system, which names `what`, if the library cannot run it.
  void enqueue(Stream stream, const char *what) const;
  /// For profiles.
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

/// The first place for a workspace from `scratch` on.
constexpr Address workspaceFrom(Address scratch) {
  constexpr Address alignment = dnn::workspaceAlignment;
  return (scratch + alignment - 1) / alignment * alignment;
}

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_EXECUTION_H
