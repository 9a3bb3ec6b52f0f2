//===- Windows.cpp - Sliding windows of convolution and pooling -------------------------------===//

#include "frontend/onnx/operators/support/Windows.h"

#include "frontend/onnx/operators/support/Formulas.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Upper bound of attribute values, so that their products fit into 64 bits.
constexpr int64_t largest = int64_t(1) << 30;

/// Reads an attribute with one value in [minimum, largest] for each of `rank` axes. Returns default
/// values if the attribute is missing.
Extents perAxis(NodeView &node, StringRef name, size_t rank, int64_t minimum, int64_t byDefault) {
  std::optional<Extents> given = node.integersOr(name);
  if (!given)
    return Extents(rank, byDefault);
  if (given->size() != rank)
    (void)node.failure("attribute " + name + " has " + Twine(given->size()) + " values, expected " +
                       Twine(rank));
  for (int64_t value : *given)
    if (value < minimum || value > largest)
      (void)node.failure("attribute " + name + " holds " + Twine(value) + ", expected " +
                         Twine(minimum) + ".." + Twine(largest));
  given->resize(rank, byDefault);
  return *given;
}

StringRef autoPad(NodeView &node) {
  return node.choice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

/// Reads strides, dilations and explicit padding, and checks `kernel`.
FailureOr<Windows> readAttributes(NodeView &node, ArrayRef<int64_t> spatial,
                                  ArrayRef<int64_t> kernel) {
  for (int64_t extent : spatial)
    if (extent > largest)
      return node.failure("slides over shape " + shapeText(spatial) + ", expected at most " +
                          Twine(largest) + " along each axis");
  size_t rank = spatial.size();
  Windows windows;
  windows.kernel.assign(kernel.begin(), kernel.end());
  if (kernel.size() != rank)
    return node.failure("has a kernel of shape " + shapeText(kernel) + ", expected " + Twine(rank) +
                        " axes");
  for (int64_t extent : kernel)
    if (extent < 1 || extent > largest)
      return node.failure("has a kernel of shape " + shapeText(kernel) +
                          ", expected extents of at least 1");
  windows.strides = perAxis(node, "strides", rank, 1, 1);
  windows.dilations = perAxis(node, "dilations", rank, 1, 1);
  Extents pads = perAxis(node, "pads", 2 * rank, 0, 0);
  if (autoPad(node) != "NOTSET")
    pads.assign(2 * rank, 0);
  windows.before.assign(pads.begin(), pads.begin() + rank);
  windows.after.assign(pads.begin() + rank, pads.end());
  windows.output.resize(rank);
  if (node.failed())
    return failure();
  return windows;
}

/// Splits `total` padding. An odd element is added at the end for SAME_UPPER, at the beginning for
/// SAME_LOWER.
void divide(int64_t total, bool moreAtEnd, int64_t &before, int64_t &after) {
  total = std::max<int64_t>(total, 0);
  before = moreAtEnd ? total / 2 : total - total / 2;
  after = total - before;
}

} // namespace

FailureOr<Windows> readWindows(NodeView &node, ArrayRef<int64_t> spatial,
                               ArrayRef<int64_t> kernel) {
  FailureOr<Windows> windows = readAttributes(node, spatial, kernel);
  if (failed(windows))
    return failure();
  StringRef mode = autoPad(node);
  bool ceil = node.flag("ceil_mode", false);
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t reach = windows->dilations[i] * (kernel[i] - 1) + 1, stride = windows->strides[i];
    int64_t &before = windows->before[i], &after = windows->after[i], &out = windows->output[i];
    if (mode.starts_with("SAME")) {
      out = ceilDivide(spatial[i], stride);
      divide((out - 1) * stride + reach - spatial[i], mode == "SAME_UPPER", before, after);
      continue;
    }
    int64_t room = spatial[i] + before + after - reach;
    if (room < 0)
      return node.failure("has windows of " + Twine(reach) + " over axis " + Twine(i + 2) +
                          " of extent " + Twine(spatial[i]) + " padded by " + Twine(before) +
                          " and " + Twine(after));
    out = (ceil ? ceilDivide(room, stride) : room / stride) + 1;
    if (ceil && (out - 1) * stride >= spatial[i] + before)
      --out;
  }
  return windows;
}

FailureOr<Windows> readTransposedWindows(NodeView &node, ArrayRef<int64_t> spatial,
                                         ArrayRef<int64_t> kernel) {
  FailureOr<Windows> windows = readAttributes(node, spatial, kernel);
  if (failed(windows))
    return failure();
  StringRef mode = autoPad(node);
  Extents added = perAxis(node, "output_padding", spatial.size(), 0, 0);
  std::optional<Extents> shape = node.integersOr("output_shape");
  if (shape && shape->size() == spatial.size() + 2)
    shape->erase(shape->begin(), shape->begin() + 2); // Some exporters include N and C.
  if (shape && shape->size() != spatial.size())
    return node.failure("attribute output_shape has " + Twine(shape->size()) +
                        " values, expected " + Twine(spatial.size()));
  for (int64_t extent : shape.value_or(Extents()))
    if (extent < 1 || extent > largest)
      return node.failure("attribute output_shape holds " + Twine(extent) + ", expected 1.." +
                          Twine(largest));
  if (node.failed())
    return failure();
  for (size_t i = 0; i < spatial.size(); ++i) {
    int64_t reach = windows->dilations[i] * (kernel[i] - 1) + 1, stride = windows->strides[i];
    int64_t full = stride * (spatial[i] - 1) + added[i] + reach;
    int64_t &before = windows->before[i], &after = windows->after[i], &out = windows->output[i];
    if (shape || mode.starts_with("SAME")) {
      out = shape ? (*shape)[i] : spatial[i] * stride;
      divide(full - out, mode == "SAME_UPPER", before, after);
      after = full - before - out;
    } else {
      out = full - before - after;
    }
    if (out < 1)
      return node.failure("would have an extent of " + Twine(out) + " on axis " + Twine(i + 2) +
                          ", expected at least 1");
  }
  return windows;
}

LogicalResult checkAddressable(NodeView &node, ArrayRef<int64_t> shape) {
  if (isAddressable(shape))
    return success();
  return node.failure("needs values of shape " + shapeText(shape) +
                      ", more elements than can be addressed");
}

FailureOr<Value> slide(NodeView &node, TensorBuilder &b, Value x, const Windows &windows,
                       double fill) {
  int64_t rank = typeOf(x).getRank(), first = rank - windows.kernel.size();
  Extents low(rank, 0), high(rank, 0), interior(rank, 0);
  Extents shape(shapeOf(x)), padded = shape;
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    int64_t reach = (windows.output[i] - 1) * windows.strides[i] +
                    windows.dilations[i] * (windows.kernel[i] - 1) + 1;
    low[first + i] = windows.before[i];
    high[first + i] = std::max<int64_t>(reach - shape[first + i] - windows.before[i], 0);
    padded[first + i] += low[first + i] + high[first + i];
    shape[first + i] = windows.output[i];
  }
  llvm::append_range(shape, windows.kernel);
  for (const Extents &each : {padded, shape})
    if (failed(checkAddressable(node, each)))
      return failure();
  return b.windows(b.pad(x, low, high, interior, fill), axesFrom(first, rank), windows.output,
                   windows.kernel, windows.strides, windows.dilations);
}

} // namespace mtc::onnx
