//===- FusedActivation.cpp - Activation functions fused into other operators ------------------===//

#include "frontend/onnx/operators/support/FusedActivation.h"
#include "frontend/onnx/operators/support/ActivationFormulas.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

struct Parameter {
  StringRef attribute; ///< Empty for parameters that only a list can hold.
  double byDefault;
};

struct Named {
  StringRef name;
  SmallVector<Parameter, 2> parameters;
  FusedActivation::Build build;
};

constexpr StringRef alpha = "activation_alpha", beta = "activation_beta",
                    gamma = "activation_gamma";

ArrayRef<Named> functions() {
  using B = TensorBuilder;
  static const Named all[] = {
      {"Relu", {}, [](B &b, Value x, double, double) { return relu(b, x); }},
      {"Sigmoid", {}, [](B &b, Value x, double, double) { return b.logistic(x); }},
      {"Tanh", {}, [](B &b, Value x, double, double) { return b.tanh(x); }},
      {"Softplus", {}, [](B &b, Value x, double, double) { return softplus(b, x); }},
      {"Softsign", {}, [](B &b, Value x, double, double) { return softsign(b, x); }},
      {"LeakyRelu",
       {{alpha, 0.01}},
       [](B &b, Value x, double a, double) { return leakyRelu(b, x, a); }},
      {"ThresholdedRelu",
       {{alpha, 1}},
       [](B &b, Value x, double a, double) { return thresholdedRelu(b, x, a); }},
      {"Elu", {{alpha, 1}}, [](B &b, Value x, double a, double) { return elu(b, x, a); }},
      {"Selu", {{alpha, 1.6732631921768188}, {gamma, 1.0507010221481323}}, selu},
      {"HardSigmoid", {{alpha, 0.2}, {beta, 0.5}}, hardSigmoid},
      {"Clip",
       {{"", -INFINITY}, {"", INFINITY}},
       [](B &b, Value x, double low, double high) {
         return clip(b, x, b.splat(x, low), b.splat(x, high));
       }},
  };
  return all;
}

/// Returns null without an activation. Fails with a diagnostic for unknown names.
FailureOr<const Named *> find(NodeView &node) {
  StringRef name = node.string("activation", "");
  if (node.failed())
    return failure();
  if (name.empty())
    return nullptr;
  const Named *found =
      llvm::find_if(functions(), [&](const Named &each) { return each.name == name; });
  if (found != functions().end())
    return found;
  auto names = llvm::map_range(functions(), [](const Named &each) { return each.name; });
  return node.failure("attribute activation = \"" + name + "\", expected one of " +
                      llvm::join(names, ", "));
}

} // namespace

FailureOr<FusedActivation> FusedActivation::readList(NodeView &node) {
  FailureOr<const Named *> found = find(node);
  SmallVector<double> given = node.floats("activation_params", {});
  if (failed(found) || node.failed())
    return failure();
  ArrayRef<Parameter> known =
      *found ? ArrayRef<Parameter>((*found)->parameters) : ArrayRef<Parameter>();
  if (given.size() > known.size())
    return node.failure("attribute activation_params has " + Twine(given.size()) +
                        " values, expected at most " + Twine(known.size()));
  FusedActivation activation;
  if (*found)
    activation.function = (*found)->build;
  for (auto [i, parameter] : llvm::enumerate(known))
    activation.parameters[i] = i < given.size() ? given[i] : parameter.byDefault;
  return activation;
}

FailureOr<FusedActivation> FusedActivation::readNamed(NodeView &node) {
  FailureOr<const Named *> found = find(node);
  if (failed(found))
    return failure();
  FusedActivation activation;
  if (!*found)
    return activation;
  activation.function = (*found)->build;
  for (auto [i, parameter] : llvm::enumerate((*found)->parameters))
    activation.parameters[i] = parameter.attribute.empty()
                                   ? parameter.byDefault
                                   : node.floating(parameter.attribute, parameter.byDefault);
  if (node.failed())
    return failure();
  return activation;
}

} // namespace mtc::onnx
