//===- RecurrentActivation.cpp - Activation functions of RNN, GRU and LSTM --------------------===//

#include "frontend/onnx/operators/support/RecurrentActivation.h"
#include "frontend/onnx/operators/support/ActivationFormulas.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

struct Named {
  StringRef name;
  bool hasAlpha, hasBeta;
  double alpha, beta; ///< Default values.
  RecurrentActivation::Build build;
};

Value times(TensorBuilder &b, Value x, double by) { return b.mul(x, b.splat(x, by)); }

const Named functions[] = {
    {"Tanh", false, false, 0, 0,
     [](TensorBuilder &b, Value x, double, double) { return b.tanh(x); }},
    {"Sigmoid", false, false, 0, 0,
     [](TensorBuilder &b, Value x, double, double) { return b.logistic(x); }},
    {"Relu", false, false, 0, 0,
     [](TensorBuilder &b, Value x, double, double) { return relu(b, x); }},
    {"Softsign", false, false, 0, 0,
     [](TensorBuilder &b, Value x, double, double) { return softsign(b, x); }},
    {"Softplus", false, false, 0, 0,
     [](TensorBuilder &b, Value x, double, double) { return softplus(b, x); }},
    {"LeakyRelu", true, false, 0.01, 0,
     [](TensorBuilder &b, Value x, double alpha, double) { return leakyRelu(b, x, alpha); }},
    {"ThresholdedRelu", true, false, 1, 0,
     [](TensorBuilder &b, Value x, double alpha, double) { return thresholdedRelu(b, x, alpha); }},
    {"Elu", true, false, 1, 0,
     [](TensorBuilder &b, Value x, double alpha, double) { return elu(b, x, alpha); }},
    {"Affine", true, true, 1, 0,
     [](TensorBuilder &b, Value x, double alpha, double beta) {
       return b.add(times(b, x, alpha), b.splat(x, beta));
     }},
    {"ScaledTanh", true, true, 1, 1,
     [](TensorBuilder &b, Value x, double alpha, double beta) {
       return times(b, b.tanh(times(b, x, beta)), alpha);
     }},
    {"HardSigmoid", true, true, 0.2, 0.5, hardSigmoid},
};

} // namespace

FailureOr<SmallVector<RecurrentActivation>> readActivations(NodeView &node,
                                                            ArrayRef<StringRef> byDefault) {
  SmallVector<StringRef> names = node.strings("activations", byDefault);
  SmallVector<double> alphas = node.floats("activation_alpha", {});
  SmallVector<double> betas = node.floats("activation_beta", {});
  if (node.failed())
    return failure();
  if (names.size() != byDefault.size())
    return node.failure("attribute activations has " + Twine(names.size()) + " names, expected " +
                        Twine(byDefault.size()));
  SmallVector<RecurrentActivation> read;
  size_t alpha = 0, beta = 0;
  for (StringRef name : names) {
    const Named *found = llvm::find_if(
        functions, [&](const Named &each) { return each.name.equals_insensitive(name); });
    if (found == std::end(functions))
      return node.failure(
          "attribute activations contains \"" + name + "\", expected one of " +
          llvm::join(llvm::map_range(functions, [](const Named &each) { return each.name; }),
                     ", "));
    RecurrentActivation &each = read.emplace_back(
        RecurrentActivation{found->name, found->build, found->alpha, found->beta});
    if (found->hasAlpha && alpha < alphas.size())
      each.alpha = alphas[alpha++];
    if (found->hasBeta && beta < betas.size())
      each.beta = betas[beta++];
  }
  return read;
}

} // namespace mtc::onnx
