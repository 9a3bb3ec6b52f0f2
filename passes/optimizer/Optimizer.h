//===- Optimizer.h - The optimizers that can update the parameters ----------------------------===//
//
// An optimizer is a record and one function that writes the update of a tensor; how parameters are
// grouped and where state is kept is decided in one place (OptimizerPass.cpp). Records stand in the
// files of `kinds/`, each of which has `void addNAMEOptimizers(std::vector<OptimizerKind>
// &optimizers)`; CMake finds them. Flags, options of passes and their help follow from the records.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZER_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZER_H

#include "ir/builders/TensorBuilder.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc {

/// The limit of a number that has none but that it is computed with in f32.
inline constexpr double unlimited = 3.4e38;

/// A value of a hyperparameter that is a choice.
struct HyperparameterChoice {
  llvm::StringLiteral name, help;
};

/// What the user may choose: a number, or one of several names.
struct Hyperparameter {
  /// The flag without dashes: "weight-decay".
  llvm::StringLiteral name;
  /// Of a choice, its place among the choices, as all of its values are.
  double defaultValue;
  /// What it is, in the words of every optimizer that has it.
  llvm::StringLiteral help;
  /// Valid numbers: minimum <= value < limit.
  double minimum = 0.0, limit = unlimited;
  /// The flag that gives it together with others, in the order of the records; "": its own.
  llvm::StringLiteral sharedFlag = "";
  bool isWhole = false;
  llvm::ArrayRef<HyperparameterChoice> choices = {};

  bool accepts(double value) const;
  /// "at least 0 and less than 1".
  std::string describeRange() const;
  /// A value as a user types it.
  std::string spell(double value) const;
};

/// What every optimizer has.
constexpr Hyperparameter learningRate(double defaultValue) {
  return {"lr", defaultValue, "learning rate"};
}
constexpr Hyperparameter weightDecay(double defaultValue) {
  return {"weight-decay", defaultValue, "weight decay"};
}

/// Decays of two moments, which --betas gives together.
constexpr Hyperparameter beta1(double defaultValue, llvm::StringLiteral help) {
  return {"beta1", defaultValue, help, 0.0, 1.0, "betas"};
}
constexpr Hyperparameter beta2(double defaultValue, llvm::StringLiteral help) {
  return {"beta2", defaultValue, help, 0.0, 1.0, "betas"};
}

constexpr Hyperparameter momentum(double defaultValue) {
  return {"momentum", defaultValue, "momentum factor", 0.0, 1.0};
}

/// Something that is done or not.
inline constexpr HyperparameterChoice noOrYes[] = {{"false", ""}, {"true", ""}};
constexpr Hyperparameter noOrYesChoice(llvm::StringLiteral name, bool defaultValue,
                                       llvm::StringLiteral help) {
  return {.name = name, .defaultValue = defaultValue ? 1.0 : 0.0, .help = help, .choices = noOrYes};
}
constexpr Hyperparameter nesterov(bool defaultValue) {
  return noOrYesChoice("nesterov", defaultValue, "Nesterov momentum");
}

struct OptimizerKind;

/// How parameters are updated: by which optimizer, with which values of its hyperparameters.
struct UpdateRule {
  const OptimizerKind *kind = nullptr;
  /// In the order of the optimizer's record.
  llvm::SmallVector<double> numbers;
  /// In which states of the parameter's shape are kept: 32, or fewer in blocks with a scale each.
  unsigned stateBits = 32;

  /// With the defaults.
  explicit UpdateRule(const OptimizerKind &kind);

  /// A hyperparameter's value by its name, which the optimizer has.
  double &operator[](llvm::StringRef name);
  double operator[](llvm::StringRef name) const { return const_cast<UpdateRule &>(*this)[name]; }
  bool operator==(const UpdateRule &) const = default;
};

using Shape = llvm::SmallVector<int64_t>;

inline std::optional<Shape> likeParameter(llvm::ArrayRef<int64_t> parameter, const UpdateRule &) {
  return llvm::to_vector(parameter);
}

/// A tensor that an optimizer keeps for each parameter, of the parameter's element type.
struct OptimizerState {
  /// What follows the parameter's name in the variable's.
  llvm::StringLiteral suffix;
  /// Its shape, by the parameter's; none where the parameter has no such state.
  std::optional<Shape> (*shape)(llvm::ArrayRef<int64_t> parameter,
                                const UpdateRule &rule) = likeParameter;
  /// The hyperparameter whose value all elements start as; "": 0.
  llvm::StringLiteral initial = "";
  /// Its elements are never less than 0: codes of few bits need no sign.
  bool isNonNegative = false;
};

/// The update in the making: of one parameter in its own shape, or of several as one flat tensor
/// where the optimizer is elementwise. Tensors have one element type, f32 or f64; scalars are
/// tensors of rank 0 and f64, so that powers and differences keep their accuracy.
class Update {
public:
  using Value = mlir::Value;

  Update(TensorBuilder &b, const UpdateRule &rule) : b(b), rule(rule) {}

  TensorBuilder &b;
  const UpdateRule &rule;
  /// Read, and replaced by what they become. A state that the parameter has not is null.
  Value parameter;
  llvm::SmallVector<Value> states;
  /// Read, and replaced where more than one state depends on what it becomes.
  Value gradient;
  /// Scalars.
  Value learningRate;
  /// From 1, without those that were skipped; null if the optimizer does not ask for it.
  Value step;

  /// A hyperparameter's value by its name.
  double number(llvm::StringRef name) const { return rule[name]; }
  Value scalar(double value);
  /// base^step, for 0 <= base < 1.
  Value powerOfStep(double base);
  /// A scalar as a tensor like the parameter.
  Value broadcast(Value scalar);
  Value broadcast(double value) { return b.splat(parameter, value); }
  /// from + weight (to - from).
  Value mix(Value from, Value to, double weight);
  /// The root of the sum of the squares of all elements, a scalar.
  Value norm(Value x);

  /// The gradient of the loss with the decay as its penalty: g + wd p.
  Value gradientWithDecay();
  /// The decay apart from the gradient: p *= 1 - lr wd.
  void decayParameter();
  /// p -= rate d, for a scalar rate.
  void descend(Value direction, Value rate);
};

/// The sum of all elements, or of their squares, a scalar f64. Sums run over the last axes first,
/// so that they are many and short.
mlir::Value sumOfElements(TensorBuilder &b, mlir::Value x);
mlir::Value sumOfSquares(TensorBuilder &b, mlir::Value x);

/// A scalar f64 as a tensor like `like`.
mlir::Value broadcastLike(TensorBuilder &b, mlir::Value scalar, mlir::Value like);

/// Which parameters an optimizer is for, where that is not all. Others are updated by the one that
/// is named here, unless the user's groups say otherwise.
struct OptimizerDomain {
  /// What it updates, as messages say: "matrices".
  llvm::StringLiteral parameters;
  bool (*contains)(mlir::RankedTensorType parameter);
  /// Nor is it for embeddings and heads, though it could update them.
  bool isHidden;
  llvm::StringLiteral otherwise;
};

/// Whether each element is.
mlir::Value isFinite(TensorBuilder &b, mlir::Value x);

struct OptimizerKind {
  llvm::StringLiteral name;
  /// For the help, with its source.
  llvm::StringLiteral help;
  llvm::ArrayRef<OptimizerState> states;
  llvm::ArrayRef<Hyperparameter> hyperparameters;
  bool usesStep;
  /// Each element's update depends on that element alone: parameters are updated together, as a
  /// flat tensor. Their states have their shape.
  bool isElementwise = true;
  const OptimizerDomain *domain = nullptr;
  void (*build)(Update &update);

  /// Null if it takes none of this name.
  const Hyperparameter *findHyperparameter(llvm::StringRef name) const;
};

llvm::ArrayRef<OptimizerKind> getOptimizers();
/// Null if there is none of this name.
const OptimizerKind *findOptimizer(llvm::StringRef name);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZER_H
