//===- Einsum.cpp - Einsum --------------------------------------------------------------------===//
//
// Operands are contracted pairwise from left to right. A label of both operands is a batch axis if
// it is needed later, otherwise it is contracted. A label of one operand that is not needed later
// is summed over first.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/EinsumEquation.h"
#include "frontend/onnx/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult inferEinsum(Inference &node) {
  for (size_t i = 1; i < node.operandCount(); ++i)
    if (!node.sameElementType(0, i))
      return failure();
  FailureOr<EinsumEquation> equation = readEinsum(node);
  if (failed(equation))
    return failure();
  Extents shape;
  for (int64_t label : equation->result)
    shape.push_back(equation->extents[label]);
  return node.result(0, node.elementType(0), shape);
}

using Labels = SmallVector<int64_t>;

/// A tensor with a distinct label for each axis.
struct Labelled {
  Value value;
  Labels labels;

  bool has(int64_t label) const { return llvm::is_contained(labels, label); }
  int64_t axis(int64_t label) const { return llvm::find(labels, label) - labels.begin(); }
};

/// Sums over the axes whose label satisfies `dropped`.
void sumOut(TensorBuilder &b, Labelled &x, llvm::function_ref<bool(int64_t)> dropped) {
  SmallVector<int64_t> axes;
  for (auto [axis, label] : llvm::enumerate(x.labels))
    if (dropped(label))
      axes.push_back(axis);
  x.value = b.sum(x.value, axes);
  llvm::erase_if(x.labels, dropped);
}

/// Extracts the diagonal of two axes along the first one: masks all other elements and sums over
/// the second axis.
Value diagonal(TensorBuilder &b, Value x, int64_t first, int64_t second) {
  auto type = RankedTensorType::get(shapeOf(x), b.getI64Type());
  Value isDiagonal = b.compare(Predicate::Eq, b.iota(type, first), b.iota(type, second));
  return b.sum(b.select(isDiagonal, x, b.splat(x, 0.0)), {second});
}

/// Returns an operand in which each label occurs once, without broadcast axes of extent 1.
Labelled readOperand(TensorBuilder &b, Value value, Labels labels, ArrayRef<int64_t> extents) {
  Labelled x{value, {}};
  SmallVector<int64_t> kept;
  for (auto [axis, label] : llvm::enumerate(labels))
    if (int64_t extent = shapeOf(value)[axis]; extent != 1 || extents[label] == 1) {
      kept.push_back(extent);
      x.labels.push_back(label);
    }
  x.value = b.reshape(value, kept);
  for (size_t i = 0; i < x.labels.size(); ++i)
    for (size_t j = x.labels.size() - 1; j > i; --j)
      if (x.labels[i] == x.labels[j]) {
        x.value = diagonal(b, x.value, i, j);
        x.labels.erase(x.labels.begin() + j);
      }
  return x;
}

Labelled contract(TensorBuilder &b, const Labelled &x, const Labelled &y,
                  llvm::function_ref<bool(int64_t)> needed) {
  SmallVector<int64_t> xBatch, yBatch, xOver, yOver;
  Labels batch, xFree;
  for (int64_t label : x.labels) {
    if (!y.has(label)) {
      xFree.push_back(label);
      continue;
    }
    (needed(label) ? xBatch : xOver).push_back(x.axis(label));
    (needed(label) ? yBatch : yOver).push_back(y.axis(label));
    if (needed(label))
      batch.push_back(label);
  }
  Labelled result{b.contract(x.value, y.value, xBatch, yBatch, xOver, yOver), batch};
  llvm::append_range(result.labels, xFree);
  for (int64_t label : y.labels)
    if (!x.has(label))
      result.labels.push_back(label);
  return result;
}

LogicalResult convertEinsum(Conversion &node) {
  FailureOr<EinsumEquation> equation = readEinsum(node);
  if (failed(equation))
    return failure();
  TensorBuilder &b = node.b;
  SmallVector<Labelled> operands;
  for (auto [i, labels] : llvm::enumerate(equation->operands))
    operands.push_back(readOperand(b, node.value(i), labels, equation->extents));
  Labelled result = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    Labelled &next = operands[i];
    auto needed = [&](int64_t label) {
      return llvm::is_contained(equation->result, label) ||
             llvm::any_of(ArrayRef(operands).drop_front(i + 1),
                          [&](const Labelled &later) { return later.has(label); });
    };
    sumOut(b, result, [&](int64_t label) { return !needed(label) && !next.has(label); });
    sumOut(b, next, [&](int64_t label) { return !needed(label) && !result.has(label); });
    result = contract(b, result, next, needed);
  }
  sumOut(b, result, [&](int64_t label) { return !llvm::is_contained(equation->result, label); });
  SmallVector<int64_t> permutation;
  for (int64_t label : equation->result)
    permutation.push_back(result.axis(label));
  return node.result(0, b.transpose(result.value, permutation));
}

} // namespace

void addEinsumOperators(Operators &operators) {
  operators.add("Einsum", 12,
                {.infer = inferEinsum,
                 .convert = convertEinsum,
                 .roles = {{everyOperand, OperandRole::Factor}}});
}

} // namespace mtc::onnx
