// cuDNN, opened for one device, and its ways to run a graph.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_HANDLE_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_HANDLE_H

#include "runtime/devices/cuda/dnn_graph.h"

#include <memory>
#include <vector>

namespace mtc::runtime::cuda {

/// How the library would run a graph.
struct DnnChoice {
  dnn::Descriptor configuration;
  int64_t workspaceBytes;
  int64_t engine; ///< its number, for profiles
  uint32_t notes; ///< dnn::Note
};

/// From best to worst, in the library's opinion; empty if it has no way. With dnn::fallback, ways
/// that it has for nearly every graph.
std::vector<DnnChoice> dnnChoices(const dnn::Library &library, const dnn::Descriptor &graph,
                                  const dnn::Descriptor &device,
                                  dnn::Heuristics heuristics = dnn::best);

/// The library's state for the device of the current context.
class Dnn {
public:
  /// Null if the library is not installed, or cannot be started on this device.
  static std::unique_ptr<Dnn> open();
  ~Dnn();
  Dnn(const Dnn &) = delete;
  Dnn &operator=(const Dnn &) = delete;

  const dnn::Library &library;
  dnn::Handle handle = nullptr;

private:
  explicit Dnn(const dnn::Library &library) : library(library) {}
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_HANDLE_H
