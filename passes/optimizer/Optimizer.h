//===- Optimizer.h - Registry of optimizers ---------------------------------------------------===//
//
// An optimizer is a record and a function that emits the update of one tensor. OptimizerPass.cpp
// groups parameters and allocates state for all optimizers. Records are defined in the files in
// `kinds/`, each of which defines `void addNAMEOptimizers(std::vector<OptimizerKind> &optimizers)`
// and is found by CMake. Flags, pass options and their help are generated from the records.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_OPTIMIZER_H
#define MTC_PASSES_OPTIMIZER_OPTIMIZER_H

#include "ir/Registry.h"
#include "ir/builders/Settings.h"
#include "runtime/abi/number.h"

#include "llvm/ADT/StringMap.h"
#include <optional>
#include <string>
#include <vector>

namespace mtc {

/// Limit of a hyperparameter without one of its own: computations in f32 must not overflow.
inline constexpr double unlimited = abi::maxF32;

/// A named value of a hyperparameter.
struct HyperparameterChoice {
  llvm::StringLiteral name, help;
};

/// A hyperparameter: a number or one of several named choices.
struct Hyperparameter {
  /// Flag without dashes, for instance "weight-decay".
  llvm::StringLiteral name;
  /// Default value. Values of a hyperparameter with choices are indices into `choices`.
  double defaultValue;
  /// Description, shared by all optimizers with this hyperparameter.
  llvm::StringLiteral help;
  /// Valid values are minimum <= value < limit.
  double minimum = 0.0, limit = unlimited;
  /// Flag that sets this and other hyperparameters together, in the order of the records; "" if the
  /// hyperparameter has its own flag.
  llvm::StringLiteral sharedFlag = "";
  bool isWhole = false;
  llvm::ArrayRef<HyperparameterChoice> choices = {};

  bool accepts(double value) const;
  /// Returns the valid range, for instance "at least 0 and less than 1".
  std::string describeRange() const;
  /// Returns a value in the syntax of the command line.
  std::string spell(double value) const;
};

/// Hyperparameters of every optimizer.
constexpr Hyperparameter learningRate(double defaultValue) {
  return {"lr", defaultValue, "learning rate"};
}
constexpr Hyperparameter weightDecay(double defaultValue) {
  return {"weight-decay", defaultValue, "weight decay"};
}

/// Decay rates of the two moments, which `--betas` sets together.
constexpr Hyperparameter beta1(double defaultValue, llvm::StringLiteral help) {
  return {"beta1", defaultValue, help, 0.0, 1.0, "betas"};
}
constexpr Hyperparameter beta2(double defaultValue, llvm::StringLiteral help) {
  return {"beta2", defaultValue, help, 0.0, 1.0, "betas"};
}

constexpr Hyperparameter momentum(double defaultValue) {
  return {"momentum", defaultValue, "momentum factor", 0.0, 1.0};
}

/// A boolean hyperparameter.
inline constexpr HyperparameterChoice noOrYes[] = {{"false", ""}, {"true", ""}};
constexpr Hyperparameter noOrYesChoice(llvm::StringLiteral name, bool defaultValue,
                                       llvm::StringLiteral help) {
  return {.name = name, .defaultValue = defaultValue ? 1.0 : 0.0, .help = help, .choices = noOrYes};
}
constexpr Hyperparameter nesterov(bool defaultValue) {
  return noOrYesChoice("nesterov", defaultValue, "Nesterov momentum");
}

struct OptimizerKind;

/// The update rule of a parameter: an optimizer and the values of its hyperparameters.
struct UpdateRule {
  const OptimizerKind *kind = nullptr;
  /// Hyperparameter values in the order of the optimizer's record.
  llvm::SmallVector<double> numbers;
  /// Bits per element of states with the parameter's shape: 32, or fewer with blockwise
  /// quantization.
  unsigned stateBits = 32;
  /// Ratio of the learning rate to that of the run, if a group sets it exactly. It holds for every
  /// learning rate that the program may get.
  std::optional<double> rateFactor;

  /// Initializes all hyperparameters to their defaults.
  explicit UpdateRule(const OptimizerKind &kind);

  /// Returns a hyperparameter's value by name. The optimizer must have it.
  double &operator[](llvm::StringRef name);
  double operator[](llvm::StringRef name) const { return const_cast<UpdateRule &>(*this)[name]; }
  bool operator==(const UpdateRule &) const = default;
};

using Shape = llvm::SmallVector<int64_t>;

inline std::optional<Shape> likeParameter(llvm::ArrayRef<int64_t> parameter, const UpdateRule &) {
  return llvm::to_vector(parameter);
}

/// A state tensor of a parameter, with the parameter's element type.
struct OptimizerState {
  /// Suffix of the variable's name, which starts with the parameter's name.
  llvm::StringLiteral suffix;
  /// Returns the state's shape for a parameter's shape, or nothing if the parameter has no such
  /// state.
  std::optional<Shape> (*shape)(llvm::ArrayRef<int64_t> parameter,
                                const UpdateRule &rule) = likeParameter;
  /// Hyperparameter with the initial value of all elements; "" for 0.
  llvm::StringLiteral initial = "";
  /// Elements are never negative, so quantization codes need no sign.
  bool isNonNegative = false;
  /// The state is not divided among ranks: it belongs to the function of whole tensors
  /// (WholeTensorRule), even if it has the parameter's shape.
  bool isWhole = false;

  /// Returns whether the state is divided and quantized with the parameter's elements.
  bool isLikeParameter(llvm::ArrayRef<int64_t> parameter, const UpdateRule &rule) const {
    return !isWhole && shape(parameter, rule) == likeParameter(parameter, rule);
  }
};

/// Builder of the update of one parameter in its own shape, of a piece of it or, for elementwise
/// optimizers, of several parameters as one flat tensor. Tensors have one element type, f32 or f64.
/// Scalars are tensors of rank 0 and f64, so that powers and differences keep their accuracy.
class Update {
public:
  using Value = mlir::Value;

  Update(TensorBuilder &b, const UpdateRule &rule) : b(b), rule(rule) {}

  TensorBuilder &b;
  const UpdateRule &rule;
  /// Current values, replaced by the new values. A state that the parameter does not have is null.
  Value parameter;
  llvm::SmallVector<Value> states;
  /// Current gradient. Replaced by a modified gradient if more than one state depends on it.
  Value gradient;
  /// Scalar.
  Value learningRate;
  /// Step number from 1, skipped steps excluded, a scalar; null if the optimizer does not use it.
  Value step;

  /// Whether sums have the same order in every program, whatever it computes with them.
  bool separatesSums = false;

  /// The hyperparameters, by name, that the program reads from variables; null if there are none.
  const llvm::StringMap<Value> *settings = nullptr;

  /// Returns a hyperparameter's value by name, which decides what is computed. It is not 0 if the
  /// program reads it from a variable.
  double number(llvm::StringRef name) const { return rule[name]; }
  /// Returns a hyperparameter to compute with.
  Number value(llvm::StringRef name) const;
  Value scalar(double value);
  Value scalar(const Number &number);
  /// Returns base^step for 0 <= base < 1, a scalar.
  Value powerOfStep(const Number &base);
  /// Broadcasts a scalar to the parameter's shape.
  Value broadcast(Value scalar);
  Value broadcast(double value) { return b.splat(parameter, value); }
  Value broadcast(const Number &number) { return broadcastLike(b, number, parameter); }
  /// Returns from + weight (to - from).
  Value mix(Value from, Value to, const Number &weight);
  /// Returns the L2 norm of all elements, a scalar.
  Value norm(Value x);

  /// Returns the gradient with L2 weight decay: g + wd p.
  Value gradientWithDecay();
  /// Applies decoupled weight decay: p *= 1 - lr wd.
  void decayParameter();
  /// Applies p -= rate d for a scalar rate.
  void descend(Value direction, Value rate);
  /// Applies decoupled weight decay and p -= step.
  void finish(Value step);
};

/// Returns the sum of all elements, or of their squares, as an f64 scalar.
mlir::Value sumOfElements(TensorBuilder &b, mlir::Value x);
mlir::Value sumOfSquares(TensorBuilder &b, mlir::Value x);

/// The parameters that an optimizer supports, if it does not support all of them. The others use
/// the optimizer `otherwise` unless a parameter group selects one.
struct OptimizerDomain {
  /// The supported parameters in messages, for instance "matrices".
  llvm::StringLiteral parameters;
  bool (*contains)(mlir::RankedTensorType parameter);
  /// Whether embeddings and output layers are excluded, although the optimizer could update them.
  bool isHidden;
  llvm::StringLiteral otherwise;
};

/// Returns an elementwise test for finite values.
mlir::Value isFinite(TensorBuilder &b, mlir::Value x);

/// An update that is not elementwise. Only `transform` needs whole tensors, so that ranks that own
/// pieces move no others. The step is subtracted from the parameter after decoupled weight decay.
struct WholeTensorRule {
  /// Computes the new states that have the parameter's shape, elementwise. Returns tensors of the
  /// parameter's shape, of which `transform` needs all elements.
  llvm::SmallVector<mlir::Value> (*begin)(Update &update);
  /// Returns the step, with the learning rate. May replace states that have another shape. On ranks
  /// that own pieces, it has no parameter, no gradient and no state of the parameter's shape.
  mlir::Value (*transform)(Update &update, llvm::ArrayRef<mlir::Value> tensors);
};

struct OptimizerKind {
  llvm::StringLiteral name;
  /// Help text, with a reference.
  llvm::StringLiteral help;
  llvm::ArrayRef<OptimizerState> states;
  llvm::ArrayRef<Hyperparameter> hyperparameters;
  bool usesStep;
  const OptimizerDomain *domain = nullptr;
  /// Emits the update of an elementwise optimizer; null for others.
  void (*buildElementwise)(Update &update) = nullptr;
  /// The update of other optimizers.
  const WholeTensorRule *wholeTensors = nullptr;

  /// Returns whether an element's update depends only on this element. If so, parameters are
  /// updated together as a flat tensor, and all states have the parameter's shape.
  bool isElementwise() const { return !wholeTensors; }
  /// Emits the update of a tensor that is whole or, if elementwise, of any elements.
  void build(Update &update) const;

  /// Returns the hyperparameter with this name, or null.
  const Hyperparameter *findHyperparameter(llvm::StringRef name) const;
};

template <> Registry<std::vector<OptimizerKind>> &Registry<std::vector<OptimizerKind>>::get();

llvm::ArrayRef<OptimizerKind> getOptimizers();
/// Returns the optimizer with this name, or null.
const OptimizerKind *findOptimizer(llvm::StringRef name);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZER_H
