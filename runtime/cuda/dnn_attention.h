// One attention of a program, prepared once by cuDNN.
#ifndef MTC_RUNTIME_CUDA_DNN_ATTENTION_H
#define MTC_RUNTIME_CUDA_DNN_ATTENTION_H

#include "runtime/abi/attention.h"
#include "runtime/cuda/dnn_graph.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// How the library would run a graph.
struct DnnChoice {
  dnn::Descriptor configuration;
  int64_t workspaceBytes;
  int64_t engine; ///< its number, for profiles
};

/// From best to worst, in the library's opinion; empty if it has no way.
std::vector<DnnChoice> dnnChoices(const dnn::Library &library, const dnn::Descriptor &graph,
                                  const dnn::Descriptor &device);

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

class DnnAttention {
public:
  /// Null if the library does not compute this call in so much scratch, on this device or at these
  /// places. `places` are those of the call in its order.
  static std::unique_ptr<DnnAttention> create(const Dnn &dnn, const MtcAttention &attention,
                                              bool isGradient, const std::vector<Address> &places,
                                              Address scratch, int64_t scratchBytes);

  /// A fault of the system if the library cannot run it.
  void enqueue(Stream stream) const;
  /// For profiles.
  std::string implementation() const;

private:
  DnnAttention(const Dnn &dnn, const MtcAttention &attention);
  void place(const MtcAttention &attention, bool isGradient, const std::vector<Address> &places,
             Address scratch, Address workspace);
  bool choose(const MtcAttention &attention, bool isGradient, int64_t workspaceBytes);

  struct Scalars {
    float scale, one, noScore;
    int32_t diagonal;
  };

  const Dnn &dnn;
  Scalars scalars; ///< read at each run
  dnn::OperationGraph graph;
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
  std::unique_ptr<dnn::Descriptor> operations, plan, pack;
  int64_t engine = 0;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CUDA_DNN_ATTENTION_H
