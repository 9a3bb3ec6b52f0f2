// A graph of operations for cuDNN.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H

#include "runtime/devices/cuda/dnn.h"

#include <cstdint>
#include <deque>
#include <vector>

namespace mtc::runtime::cuda::dnn {

/// A descriptor of the library, given back at the end. Its functions throw a fault of the system
/// that says what the library says.
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

/// Strides of a tensor whose elements lie one after another.
Extents denseStrides(const Extents &extents);

/// Where the windows of a convolution lie, for each axis that they slide along.
struct Windows {
  Extents strides, dilations, before, after;
};

/// Tensors of at least four axes and the operations between them. Tensors belong to the graph. All
/// sums and pointwise results are computed in f32.
class OperationGraph {
public:
  explicit OperationGraph(const Library &library) : library(library) {}

  /// A tensor in memory, by whose number a run says where; at multiples of 16 bytes.
  const Descriptor &external(int64_t id, Element element, const Extents &extents,
                             const Extents &strides);
  /// A number that a run gives by an address in the host's memory.
  const Descriptor &scalar(int64_t id, Element element);
  /// A result that only the graph's operations see.
  const Descriptor &inner(Element element, const Extents &extents, const Extents &strides);
  const Descriptor &inner(Element element, const Extents &extents) {
    return inner(element, extents, denseStrides(extents));
  }

  /// c = a * b over the last two axes. Heads of b may be fewer by a divisor: each serves
  /// neighbours.
  void matmul(const Descriptor &a, const Descriptor &b, const Descriptor &c);
  /// Computes, by the direction's name, y, dx or dw from the others. Axes are [batch, channels,
  /// positions..] of x and y, [channels of y, channels of x in a group, taps..] of w.
  void convolve(Kind direction, const Windows &windows, const Descriptor &w, const Descriptor &x,
                const Descriptor &y);
  void unary(Pointwise mode, const Descriptor &x, const Descriptor &y);
  /// Extents of b may be 1.
  void binary(Pointwise mode, const Descriptor &x, const Descriptor &b, const Descriptor &y,
              Element precision = f32);
  void selectBy(const Descriptor &condition, const Descriptor &x, const Descriptor &otherwise,
                const Descriptor &y);
  /// y = each element's position along an axis of x.
  void positions(int64_t axis, const Descriptor &x, const Descriptor &y);
  /// Over the axes that are shorter in y: to 1, or heads to a divisor, neighbours together.
  void reduce(Reduction operation, const Descriptor &x, const Descriptor &y);
  /// The same matrices transposed.
  void transpose(const Descriptor &x, const Descriptor &y);

  /// The finalized graph; nothing is added after it.
  Descriptor finish();

private:
  Descriptor &tensor(int64_t id, Element element, const Extents &extents, const Extents &strides);
  Descriptor &pointwise(Pointwise mode, const Descriptor &x, const Descriptor &y, Element precision,
                        int64_t axis = -1);

  const Library &library;
  std::deque<Descriptor> tensors, operations; ///< references stay good
  std::vector<RawDescriptor> order;
  int64_t nextInner = 1000;
};

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_GRAPH_H
