//===- Reduction.cpp - Reductions over axes, softmax, cumulative sums -------------------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The axes reduced: all of them without any given, none with `noop_with_empty_axes`.
FailureOr<Extents> reducedAxes(Inference &node) {
  auto given = node.intsOperandOrAttribute(1, "axes");
  bool noop = node.flag("noop_with_empty_axes", false);
  if (failed(given) || node.failed())
    return failure();
  if (*given && !(*given)->empty()) {
    Extents axes = node.normalizedAxes(**given, node.rank(0), "axes");
    if (node.failed())
      return failure();
    return axes;
  }
  return noop ? Extents() : llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
}

LogicalResult inferReduce(Inference &node) {
  bool keep = node.flag("keepdims", true);
  FailureOr<Extents> axes = reducedAxes(node);
  if (failed(axes))
    return failure();
  Extents shape;
  for (auto [axis, extent] : llvm::enumerate(node.shape(0))) {
    if (!llvm::is_contained(*axes, static_cast<int64_t>(axis)))
      shape.push_back(extent);
    else if (keep)
      shape.push_back(1);
  }
  return node.result(0, node.elementType(0), shape);
}

/// result = finish(Σ-like combination of each(x) over the axes, number of elements combined), from
/// `initial`.
template <typename T, typename Each, typename Combine, typename Finish>
void reduce(Inference &node, T initial, Each each, Combine combine, Finish finish) {
  Extents axes = *reducedAxes(node), kept(node.shape(0));
  int64_t combined = 1;
  for (int64_t axis : axes) {
    combined *= kept[axis];
    kept[axis] = 1;
  }
  if (elementCount(kept) > maxFoldedElements)
    return;
  std::vector<T> values = node.tensor(0).values<T>(), results(elementCount(kept), initial);
  walkIndices(node.shape(0), std::array{broadcastStrides(kept, node.shape(0))},
              [&](int64_t i, const std::array<int64_t, 1> &at) {
                results[at[0]] = combine(results[at[0]], each(values[i]));
              });
  for (T &result : results)
    result = finish(result, combined);
  if (results.empty())
    return node.fold(0, Tensor::allocate(node.resultType()));
  node.fold(0, Tensor::fromValues<T>(node.resultType(), results));
}

void addReduction(Registry &registry, StringRef name, Rule::Evaluate evaluate,
                  bool floatsOnly = false) {
  auto infer = [floatsOnly](Inference &node) {
    if (floatsOnly && !node.floatElements(0))
      return mlir::failure();
    return inferReduce(node);
  };
  registry.add(name, 1, infer, evaluate);
}

/// Registers an evaluation over all element types; the functions are generic.
template <typename Initial, typename Each, typename Combine, typename Finish>
Rule::Evaluate overNumbers(Initial initial, Each each, Combine combine, Finish finish) {
  return [=](Inference &node) {
    auto fold = [&](auto kind) {
      reduce<decltype(kind)>(node, initial(kind), each, combine, finish);
    };
    if (isa<FloatType>(node.elementType(0)))
      fold(double()); // Many roundings add up: sums are rounded once.
    else
      dispatchInteger(node.elementType(0), fold);
  };
}

/// The same over floats alone: integers stay a node.
template <typename Each, typename Finish> Rule::Evaluate overFloats(Each each, Finish finish) {
  return [=](Inference &node) {
    if (!isa<FloatType>(node.elementType(0)))
      return;
    reduce<double>(node, 0, each, [](double a, double b) { return a + b; }, finish);
  };
}

/// Integers wrap around.
template <typename T> T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> T product(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

/// The least and the greatest value, what a maximum or minimum of nothing is.
template <typename T> T bottom(T) {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
template <typename T> T top(T) {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

void registerReductions(Registry &registry) {
  auto zero = [](auto kind) { return decltype(kind)(0); };
  auto one = [](auto kind) { return decltype(kind)(1); };
  auto itself = [](auto x) { return x; };
  auto square = [](auto x) { return product(x, x); };
  auto magnitude = [](auto x) { return x < 0 ? product(x, decltype(x)(-1)) : x; };
  auto add = [](auto a, auto b) { return sum(a, b); };
  auto multiply = [](auto a, auto b) { return product(a, b); };
  auto larger = [](auto a, auto b) { return b != b || b > a ? b : a; };
  auto smaller = [](auto a, auto b) { return b != b || b < a ? b : a; };
  auto done = [](auto x, int64_t) { return x; };
  auto mean = [](auto x, int64_t count) -> decltype(x) {
    if constexpr (std::is_integral_v<decltype(x)>)
      return count == 0 ? 0 : x / static_cast<decltype(x)>(count);
    else
      return x / static_cast<decltype(x)>(count);
  };
  auto root = [](auto x, int64_t) { return std::sqrt(x); };
  auto logarithm = [](auto x, int64_t) { return std::log(x); };

  addReduction(registry, "ReduceSum", overNumbers(zero, itself, add, done));
  addReduction(registry, "ReduceMean", overNumbers(zero, itself, add, mean));
  addReduction(registry, "ReduceProd", overNumbers(one, itself, multiply, done));
  addReduction(registry, "ReduceL1", overNumbers(zero, magnitude, add, done));
  addReduction(registry, "ReduceL2", overFloats(square, root));
  addReduction(registry, "ReduceSumSquare", overNumbers(zero, square, add, done));
  addReduction(registry, "ReduceLogSum", overFloats(itself, logarithm));
  addReduction(registry, "ReduceMax",
               overNumbers([](auto kind) { return bottom(kind); }, itself, larger, done));
  addReduction(registry, "ReduceMin",
               overNumbers([](auto kind) { return top(kind); }, itself, smaller, done));
  addReduction(registry, "ReduceLogSumExp", {}, /*floatsOnly=*/true);
}

/// Softmax, LogSoftmax, Hardmax: before version 13 over all axes from `axis` (1) on, then over
/// `axis` (-1) alone.
LogicalResult inferSoftmax(Inference &node) {
  if (!node.floatElements(0))
    return failure();
  int64_t axis = node.integer("axis", node.version() < 13 ? 1 : -1), rank = node.rank(0);
  bool scalar = rank == 0 && (axis == 0 || axis == -1);
  bool flattensNothing = node.version() < 13 && axis == rank;
  if (!scalar && !flattensNothing)
    node.normalized(axis, rank, "attribute axis");
  return node.result(0, node.type(0));
}

void evaluateSoftmax(Inference &node, bool logarithm) {
  int64_t axis = node.integer("axis", node.version() < 13 ? 1 : -1), rank = node.rank(0);
  if (rank == 0 || axis == rank || node.type(0).getNumElements() == 0)
    return;
  axis = axis < 0 ? axis + rank : axis;
  bool flatten = node.version() < 13;
  int64_t extent = flatten ? elementCount(node.shape(0).drop_front(axis)) : node.dim(0, axis);
  int64_t inner = flatten ? 1 : elementCount(node.shape(0).drop_front(axis + 1));
  int64_t outer = elementCount(node.shape(0).take_front(axis));
  dispatchFloat(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    std::vector<T> values = node.tensor(0).template values<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        auto at = [&](int64_t k) -> T & { return values[(o * extent + k) * inner + i]; };
        T greatest = at(0), total = 0;
        for (int64_t k = 1; k < extent; ++k)
          greatest = std::max(greatest, at(k));
        for (int64_t k = 0; k < extent; ++k)
          total += std::exp(at(k) - greatest);
        for (int64_t k = 0; k < extent; ++k)
          at(k) =
              logarithm ? at(k) - greatest - std::log(total) : std::exp(at(k) - greatest) / total;
      }
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

LogicalResult inferCumulative(Inference &node) {
  node.flag("exclusive", false);
  node.flag("reverse", false);
  if (!node.integerElements(1))
    return failure();
  std::optional<Extents> axis = node.constantInts(1);
  if (!axis)
    return node.needsConstant(1);
  if (axis->size() != 1)
    return node.failure(Twine(node.operandName(1)) + " has " + Twine(axis->size()) +
                        " elements, expected 1");
  node.normalized(axis->front(), node.rank(0), node.operandName(1));
  return node.result(0, node.type(0));
}

/// Running totals along an axis, from `initial` by `combine`.
template <typename Combine>
void evaluateCumulative(Inference &node, int64_t initial, Combine combine) {
  bool exclusive = node.flag("exclusive", false), reverse = node.flag("reverse", false);
  int64_t axis = node.normalized(node.constantInts(1)->front(), node.rank(0), "axis");
  int64_t extent = node.dim(0, axis);
  int64_t inner = elementCount(node.shape(0).drop_front(axis + 1));
  int64_t outer = elementCount(node.shape(0).take_front(axis));
  if (node.type(0).getNumElements() > maxFoldedElements)
    return;
  dispatchNumber(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    std::vector<T> values = node.tensor(0).template values<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        T total = static_cast<T>(initial);
        for (int64_t k = 0; k < extent; ++k) {
          T &value = values[(o * extent + (reverse ? extent - 1 - k : k)) * inner + i];
          T before = total;
          total = combine(total, value);
          value = exclusive ? before : total;
        }
      }
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

} // namespace

void registerReductionRules(Registry &registry) {
  registerReductions(registry);
  registry.add("Softmax", 1, inferSoftmax, [](Inference &node) { evaluateSoftmax(node, false); });
  registry.add("LogSoftmax", 1, inferSoftmax, [](Inference &node) { evaluateSoftmax(node, true); });
  registry.add("Hardmax", 1, inferSoftmax);
  registry.add("CumSum", 11, inferCumulative, [](Inference &node) {
    evaluateCumulative(node, 0, [](auto a, auto b) { return sum(a, b); });
  });
  registry.add("CumProd", 26, inferCumulative, [](Inference &node) {
    evaluateCumulative(node, 1, [](auto a, auto b) { return product(a, b); });
  });
}

} // namespace mtc::onnx
