// Descriptors and operations of a graph.
#include "runtime/devices/cuda/dnn_graph.h"

#include "runtime/support/failure.h"

#include <utility>

namespace mtc::runtime::cuda::dnn {

Descriptor::Descriptor(const Library &library, Kind kind) : library(&library), kind(kind) {
  check(library.createDescriptor(kind, &raw), "has no descriptor");
}

Descriptor::~Descriptor() {
  if (raw)
    library->destroyDescriptor(raw);
}

Descriptor::Descriptor(Descriptor &&other) noexcept
    : library(other.library), kind(other.kind), raw(std::exchange(other.raw, nullptr)) {}

void Descriptor::check(int status, const char *what) const {
  if (status == 0)
    return;
  char message[1024] = "";
  library->lastError(message, sizeof message);
  systemError("cuDNN ", what, " (kind ", static_cast<int>(kind), ", status ", status,
              "): ", message);
}

void Descriptor::set(Attribute attribute, AttributeType type, int64_t count, const void *values) {
  check(library->setAttribute(raw, attribute, type, count, values), "refuses an attribute");
}

void Descriptor::finalize() { check(library->finalize(raw), "refuses a description"); }

int64_t Descriptor::number(Attribute attribute) const {
  int64_t value = 0, count = 0;
  check(library->getAttribute(raw, attribute, int64Type, 1, &count, &value), "says no number");
  return value;
}

Extents denseStrides(const Extents &extents) {
  Extents strides(extents.size());
  int64_t next = 1;
  for (size_t i = extents.size(); i-- > 0; next *= extents[i])
    strides[i] = next;
  return strides;
}

Descriptor &OperationGraph::tensor(int64_t id, Element element, const Extents &extents,
                                   const Extents &strides) {
  constexpr int64_t alignment = 16;
  Descriptor &tensor = tensors.emplace_back(library, tensorKind);
  tensor.set(tensorType, elementType, element);
  const auto rank = static_cast<int64_t>(extents.size());
  tensor.set(tensorExtents, int64Type, rank, extents.data());
  tensor.set(tensorStrides, int64Type, rank, strides.data());
  tensor.set(tensorId, int64Type, id);
  tensor.set(tensorAlignment, int64Type, alignment);
  return tensor;
}

const Descriptor &OperationGraph::external(int64_t id, Element element, const Extents &extents,
                                           const Extents &strides) {
  Descriptor &result = tensor(id, element, extents, strides);
  result.finalize();
  return result;
}

const Descriptor &OperationGraph::scalar(int64_t id, Element element) {
  Descriptor &result = tensor(id, element, {1, 1, 1, 1}, {1, 1, 1, 1});
  result.set(tensorIsByValue, booleanType, true);
  result.finalize();
  return result;
}

const Descriptor &OperationGraph::inner(Element element, const Extents &extents,
                                        const Extents &strides) {
  Descriptor &result = tensor(nextInner++, element, extents, strides);
  result.set(tensorIsVirtual, booleanType, true);
  result.finalize();
  return result;
}

void OperationGraph::matmul(const Descriptor &a, const Descriptor &b, const Descriptor &c) {
  Descriptor &product = operations.emplace_back(library, matmulKind);
  product.set(matmulPrecision, elementType, f32);
  product.finalize();
  Descriptor &operation = operations.emplace_back(library, matmulOperation);
  operation.set(operationMatmul, product);
  operation.set(matmulA, a);
  operation.set(matmulB, b);
  operation.set(matmulC, c);
  operation.finalize();
  order.push_back(operation.get());
}

void OperationGraph::convolve(Kind direction, const Windows &windows, const Descriptor &w,
                              const Descriptor &x, const Descriptor &y) {
  Descriptor &convolution = operations.emplace_back(library, convolutionKind);
  const auto axes = static_cast<int64_t>(windows.strides.size());
  convolution.set(convolutionPrecision, elementType, f32);
  convolution.set(convolutionMode, convolutionModeType, crossCorrelation);
  convolution.set(convolutionAxes, int64Type, axes);
  convolution.set(convolutionStrides, int64Type, axes, windows.strides.data());
  convolution.set(convolutionDilations, int64Type, axes, windows.dilations.data());
  convolution.set(convolutionBefore, int64Type, axes, windows.before.data());
  convolution.set(convolutionAfter, int64Type, axes, windows.after.data());
  convolution.finalize();
  Descriptor &operation = operations.emplace_back(library, direction);
  const ConvolutionAttributes names = attributesOf(direction);
  operation.set(names.alpha, floatType, 1.0f);
  operation.set(names.beta, floatType, 0.0f);
  operation.set(names.convolution, convolution);
  operation.set(names.w, w);
  operation.set(names.x, x);
  operation.set(names.y, y);
  operation.finalize();
  order.push_back(operation.get());
}

Descriptor &OperationGraph::pointwise(Pointwise mode, const Descriptor &x, const Descriptor &y,
                                      Element precision, int64_t axis) {
  Descriptor &function = operations.emplace_back(library, pointwiseKind);
  function.set(pointwiseMode, pointwiseModeType, mode);
  function.set(pointwisePrecision, elementType, precision);
  if (axis >= 0)
    function.set(pointwiseAxis, int64Type, axis);
  function.finalize();
  Descriptor &operation = operations.emplace_back(library, pointwiseOperation);
  operation.set(operationPointwise, function);
  operation.set(pointwiseX, x);
  operation.set(pointwiseY, y);
  order.push_back(operation.get());
  return operation;
}

void OperationGraph::unary(Pointwise mode, const Descriptor &x, const Descriptor &y) {
  pointwise(mode, x, y, f32).finalize();
}

void OperationGraph::binary(Pointwise mode, const Descriptor &x, const Descriptor &b,
                            const Descriptor &y, Element precision) {
  Descriptor &operation = pointwise(mode, x, y, precision);
  operation.set(pointwiseB, b);
  operation.finalize();
}

void OperationGraph::selectBy(const Descriptor &condition, const Descriptor &x,
                              const Descriptor &otherwise, const Descriptor &y) {
  Descriptor &operation = pointwise(select, x, y, f32);
  operation.set(pointwiseB, otherwise);
  operation.set(pointwiseT, condition);
  operation.finalize();
}

void OperationGraph::positions(int64_t axis, const Descriptor &x, const Descriptor &y) {
  pointwise(index, x, y, f32, axis).finalize();
}

void OperationGraph::reduce(Reduction operation, const Descriptor &x, const Descriptor &y) {
  Descriptor &function = operations.emplace_back(library, reductionKind);
  function.set(reductionOperator, reductionType, operation);
  function.set(reductionPrecision, elementType, f32);
  function.finalize();
  Descriptor &result = operations.emplace_back(library, reductionOperation);
  result.set(operationReduction, function);
  result.set(reductionX, x);
  result.set(reductionY, y);
  result.finalize();
  order.push_back(result.get());
}

void OperationGraph::transpose(const Descriptor &x, const Descriptor &y) {
  Descriptor &operation = operations.emplace_back(library, reshapeOperation);
  operation.set(reshapeX, x);
  operation.set(reshapeY, y);
  operation.finalize();
  order.push_back(operation.get());
}

Descriptor OperationGraph::finish() {
  Descriptor graph(library, graphKind);
  graph.set(graphOperations, descriptorType, static_cast<int64_t>(order.size()), order.data());
  graph.finalize();
  return graph;
}

} // namespace mtc::runtime::cuda::dnn
