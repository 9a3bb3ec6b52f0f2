// Evaluation of operation graphs by the emulated cuDNN.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_EVALUATION_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_EVALUATION_H

#include "runtime/devices/cuda/dnn.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime::cuda::dnn {

struct DescriptorObject {
  int kind = 0;
  bool isFinal = false;
  /// The bytes of an attribute's values, and the number of values.
  std::map<int, std::pair<std::vector<char>, int64_t>> attributes;

  template <typename Value> std::vector<Value> values(int attribute) const {
    auto found = attributes.find(attribute);
    if (found == attributes.end())
      return {};
    std::vector<Value> result(static_cast<size_t>(found->second.second));
    std::memcpy(result.data(), found->second.first.data(), found->second.first.size());
    return result;
  }
  /// Returns the attribute's first value; 0 if it is not set.
  template <typename Value> Value value(int attribute) const {
    std::vector<Value> all = values<Value>(attribute);
    return all.empty() ? Value() : all.front();
  }
};

/// Evaluates a graph on the emulated device memory with plain loops; each tensor is rounded to its
/// element type. Returns an error message; empty on success. Tensors passed by value are read
/// during the call.
std::string evaluate(const DescriptorObject &graph, const std::map<int64_t, char *> &addresses);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_EVALUATION_H
