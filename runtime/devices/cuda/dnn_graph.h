// Builder of cuDNN operation graphs.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H

#include "runtime/devices/cuda/dnn.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace mtc::runtime::cuda::dnn {

/// An owned cuDNN descriptor. Its functions throw a system error with the library's message.
class Descriptor {
public:
  Descriptor(const Library &library, Kind kind);
  ~Descriptor();
  Descriptor(Descriptor &&other) noexcept;
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  void set(Attribute attribute, AttributeType type, int64_t count, const void *values);
  template <typename Value> void set(Attribute attribute, AttributeType type, const Value &value) {
    set(attribute, type, 1, &value);
  }
  void set(Attribute attribute, const Descriptor &other) {
    set(attribute, descriptorType, 1, &other.raw);
  }
  void finalize();

  int64_t number(Attribute attribute) const;
  RawDescriptor get() const { return raw; }

private:
  void check(int status, const char *what) const;

  const Library *library;
  Kind kind;
  RawDescriptor raw = nullptr;
};

using Extents = std::vector<int64_t>;

/// Returns the strides of a dense row-major tensor.
Extents denseStrides(const Extents &extents);

/// Strides, dilations and padding of a convolution, one per spatial axis.
struct Windows {
  Extents strides, dilations, before, after;
};

/// A graph of operations on tensors of at least four axes. The graph owns its tensors. All
/// reductions and pointwise results are computed in f32.
class OperationGraph {
public:
  explicit OperationGraph(const Library &library) : library(library) {}

  /// Adds a tensor in memory, whose address is bound by `id` at execution and is aligned to 16
  /// bytes.
  const Descriptor &external(int64_t id, Element element, const Extents &extents,
                             const Extents &strides);
  /// Adds a scalar passed by value: at execution, `id` is bound to its host address.
  const Descriptor &scalar(int64_t id, Element element);
  /// Adds a virtual tensor, which is not materialized.
  const Descriptor &inner(Element element, const Extents &extents, const Extents &strides);
  const Descriptor &inner(Element element, const Extents &extents) {
    return inner(element, extents, denseStrides(extents));
  }

  /// Adds c = a * b over the last two axes. b may have fewer heads than a, by a divisor;
  /// consecutive heads of a then share a head of b.
  void matmul(const Descriptor &a, const Descriptor &b, const Descriptor &c);
  /// Adds a convolution that computes y, dx or dw, depending on the direction, from the other two.
  /// Axes are [batch, channels, positions..] of x and y, [channels of y, channels of x per group,
  /// taps..] of w.
  void convolve(Kind direction, const Windows &windows, const Descriptor &w, const Descriptor &x,
                const Descriptor &y);
  void unary(Pointwise mode, const Descriptor &x, const Descriptor &y);
  /// Extents of b may be 1.
  void binary(Pointwise mode, const Descriptor &x, const Descriptor &b, const Descriptor &y,
              Element precision = f32);
  void selectBy(const Descriptor &condition, const Descriptor &x, const Descriptor &otherwise,
                const Descriptor &y);
  /// Adds y = the index of each element along an axis of x.
  void positions(int64_t axis, const Descriptor &x, const Descriptor &y);
  /// Adds a reduction over the axes that are shorter in y: to extent 1, or, for heads, to a
  /// divisor, which reduces consecutive heads.
  void reduce(Reduction operation, const Descriptor &x, const Descriptor &y);
  /// Adds a transposition of the last two axes.
  void transpose(const Descriptor &x, const Descriptor &y);

  /// Returns the finalized graph. No operations may be added afterwards.
  Descriptor finish();

private:
  Descriptor &tensor(int64_t id, Element element, const Extents &extents, const Extents &strides);
  Descriptor &pointwise(Pointwise mode, const Descriptor &x, const Descriptor &y, Element precision,
                        int64_t axis = -1);

  const Library &library;
  std::deque<Descriptor> tensors, operations; ///< deques, so that references remain valid
  std::vector<RawDescriptor> order;
  int64_t nextInner = 1000;
};

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H
