//===- Elementwise.h - Unary elementwise operators on floats ----------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_ELEMENTWISE_H
#define MTC_FRONTEND_ONNX_OPERATORS_ELEMENTWISE_H

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include <array>
#include <concepts>
#include <tuple>

namespace mtc::onnx {

/// A float attribute and its default value.
struct FloatAttribute {
  llvm::StringRef name;
  double byDefault;
};

/// Registers a float operator y = f(x, attributes…). `compute(x, attributes…)` evaluates f for one
/// element in the C++ type of that element. `build(builder, x, attributes…)` builds f in the core
/// dialect; `nullptr` if the operator is not supported.
template <typename Compute, typename Build>
void addElementwise(Operators &operators, llvm::StringRef name, int64_t sinceVersion,
                    Compute compute, Build build, std::same_as<FloatAttribute> auto... attributes) {
  auto read = [=](NodeView &node) {
    return std::array<double, sizeof...(attributes)>{
        node.floating(attributes.name, attributes.byDefault)...};
  };
  Operator definition{
      .infer =
          [=](Inference &node) {
            read(node);
            return inferSameFloat(node);
          },
      .evaluate =
          [=](Inference &node) {
            auto values = read(node);
            mapFloats(node, [&](auto x) {
              return std::apply(
                  [&](auto... value) { return compute(x, static_cast<decltype(x)>(value)...); },
                  values);
            });
          }};
  if constexpr (!std::same_as<Build, std::nullptr_t>)
    definition.convert = [=](Conversion &node) -> mlir::LogicalResult {
      auto values = read(node);
      if (node.failed())
        return mlir::failure();
      return node.result(
          0, std::apply([&](auto... value) { return build(node.b, node.value(0), value...); },
                        values));
    };
  operators.add(name, sinceVersion, std::move(definition));
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_ELEMENTWISE_H
