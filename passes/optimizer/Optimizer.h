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

#include "ir/TensorBuilder.h"

namespace mtc {

/// The limit of a number that has none but that it is computed with in f32.
inline constexpr double unlimited = 3.4e38;

/// A number that the user may choose.
struct Hyperparameter {
  /// The flag without dashes: "weight-decay".
  llvm::StringLiteral name;
  double defaultValue;
  /// What it is, in the words of every optimizer that has it.
  llvm::StringLiteral help;
  /// Valid values: minimum <= value < limit.
  double minimum = 0.0, limit = unlimited;
  /// The flag that gives it together with others, in the order of the records; "": its own.
  llvm::StringLiteral sharedFlag = "";

  bool accepts(double value) const { return value >= minimum && value < limit; }
  /// "at least 0 and less than 1".
  std::string describeRange() const;
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

/// The update of one group of parameters in the making. Tensors have one shape and element type,
/// f32 or f64; scalars are tensors of rank 0 and f64, so that powers and differences keep their
/// accuracy.
class Update {
public:
  using Value = mlir::Value;

  Update(TensorBuilder &b, const llvm::StringMap<double> &numbers) : b(b), numbers(numbers) {}

  TensorBuilder &b;
  /// Read, and replaced by what they become.
  Value parameter;
  llvm::SmallVector<Value> states;
  /// Read, and replaced where more than one state depends on what it becomes.
  Value gradient;
  /// Scalars.
  Value learningRate;
  /// From 1; null if the optimizer does not ask for it.
  Value step;
  /// 0 for a group without decay.
  double weightDecay = 0.0;

  /// A hyperparameter's value by its name.
  double number(llvm::StringRef name) const { return numbers.at(name); }
  Value scalar(double value);
  /// base^step, for 0 <= base < 1.
  Value powerOfStep(double base);
  /// A scalar as a tensor like the parameter.
  Value broadcast(Value scalar);
  Value broadcast(double value) { return b.splat(parameter, value); }

  /// The gradient of the loss with the decay as its penalty: g + wd p.
  Value gradientWithDecay();
  /// The decay apart from the gradient: p *= 1 - lr wd.
  void decayParameter();

private:
  const llvm::StringMap<double> &numbers;
};

struct OptimizerKind {
  llvm::StringLiteral name;
  /// For the help, with its source.
  llvm::StringLiteral help;
  /// Suffixes of the state's variables; state starts as zeros, in the shape of the parameter.
  llvm::ArrayRef<llvm::StringLiteral> states;
  llvm::ArrayRef<Hyperparameter> hyperparameters;
  bool usesStep;
  void (*build)(Update &update);

  /// Null if it takes none of this name.
  const Hyperparameter *findHyperparameter(llvm::StringRef name) const;
};

llvm::ArrayRef<OptimizerKind> getOptimizers();
/// Null if there is none of this name.
const OptimizerKind *findOptimizer(llvm::StringRef name);

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_OPTIMIZER_H
