// What cuDNN's operations compute.
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
  /// The bytes of an attribute's values, and how many there are.
  std::map<int, std::pair<std::vector<char>, int64_t>> attributes;

  template <typename Value> std::vector<Value> values(int attribute) const {
    auto found = attributes.find(attribute);
    if (found == attributes.end())
      return {};
    std::vector<Value> result(static_cast<size_t>(found->second.second));
    std::memcpy(result.data(), found->second.first.data(), found->second.first.size());
    return result;
  }
  /// 0 where it was not set.
  template <typename Value> Value value(int attribute) const {
    std::vector<Value> all = values<Value>(attribute);
    return all.empty() ? Value() : all.front();
  }
};

/// Runs a graph on the emulated device's memory: each tensor by loops, rounded to its elements.
/// Says what was wrong; empty if nothing. By-value tensors are read when it is called.
std::string evaluate(const DescriptorObject &graph, const std::map<int64_t, char *> &addresses);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_EVALUATION_H
