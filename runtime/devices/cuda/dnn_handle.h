// The cuDNN handle of a device, and engine selection for a graph.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_HANDLE_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_HANDLE_H

#include "runtime/devices/cuda/dnn_graph.h"

#include <memory>
#include <vector>

namespace mtc::runtime::cuda {

/// An engine configuration for a graph.
struct DnnChoice {
  dnn::Descriptor configuration;
  int64_t workspaceBytes;
  int64_t engine; ///< engine index, for profiles
  uint32_t notes; ///< dnn::Note
};

/// Returns configurations from best to worst by the library's heuristics; empty if there are none.
/// With dnn::fallback, configurations that exist for nearly every graph.
std::vector<DnnChoice> dnnChoices(const dnn::Library &library, const dnn::Descriptor &graph,
                                  const dnn::Descriptor &device,
                                  dnn::Heuristics heuristics = dnn::best);

/// The library handle for the device of the current context.
class Dnn {
public:
  /// Returns null if the library is not installed or cannot be initialized on this device.
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
