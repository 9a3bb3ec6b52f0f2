#include "runtime/devices/cuda/emulated/libraries/dnn_checks.h"

#include "runtime/devices/cuda/emulated/libraries/dnn_convolution.h"

#include <algorithm>
#include <initializer_list>

namespace mtc::runtime::cuda::dnn {

namespace {

bool lacksOne(const DescriptorObject &descriptor, std::initializer_list<int> attributes) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](int attribute) { return !descriptor.attributes.count(attribute); });
}

bool areAll(const std::vector<int64_t> &numbers, size_t count, int64_t minimum) {
  return numbers.size() == count && std::all_of(numbers.begin(), numbers.end(),
                                                [=](int64_t number) { return number >= minimum; });
}

std::string findTensorMistake(const DescriptorObject &tensor) {
  if (lacksOne(tensor, {tensorType, tensorExtents, tensorStrides, tensorId, tensorAlignment}))
    return "a tensor lacks an attribute";
  const std::vector<int64_t> extents = tensor.values<int64_t>(tensorExtents);
  if (extents.size() < 4 || !areAll(extents, extents.size(), 1) ||
      !areAll(tensor.values<int64_t>(tensorStrides), extents.size(), 1))
    return "a tensor has fewer than four axes, or an extent or a stride that is not positive";
  return "";
}

std::string findWindowsMistake(const DescriptorObject &windows) {
  if (lacksOne(windows, {convolutionPrecision, convolutionMode, convolutionAxes, convolutionStrides,
                         convolutionDilations, convolutionBefore, convolutionAfter}))
    return "a convolution lacks an attribute";
  const auto axes = static_cast<size_t>(windows.value<int64_t>(convolutionAxes));
  auto are = [&](int attribute, int64_t minimum) {
    return areAll(windows.values<int64_t>(attribute), axes, minimum);
  };
  return are(convolutionStrides, 1) && are(convolutionDilations, 1) && are(convolutionBefore, 0) &&
                 are(convolutionAfter, 0)
             ? ""
             : "a convolution has a stride or a dilation that is not positive, or a padding that "
               "is "
               "negative, or not one for each axis";
}

} // namespace

std::string findMistake(const DescriptorObject &descriptor) {
  switch (descriptor.kind) {
  case tensorKind:
    return findTensorMistake(descriptor);
  case convolutionKind:
    return findWindowsMistake(descriptor);
  case convolutionForward:
  case convolutionBackwardData:
  case convolutionBackwardFilter:
    return findConvolutionFault(descriptor);
  default:
    return "";
  }
}

} // namespace mtc::runtime::cuda::dnn
