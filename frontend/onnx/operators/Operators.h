//===- Operators.h - Registry of ONNX operators -----------------------------------------------===//
//
// Maps each operator (domain, name, version) to its type inference, constant folding and conversion
// to the core dialect. Records are defined in the files of this folder, one per family of
// operators, each of which has `void addNAMEOperators(Operators &operators)`; CMake finds them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_OPERATORS_H
#define MTC_FRONTEND_ONNX_OPERATORS_OPERATORS_H

#include "ir/Registry.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace mtc::onnx {

class Conversion;
class Inference;

/// The purpose of an operand, for operands whose purpose indicates the class of their initializer.
enum class OperandRole {
  AngleTable,        ///< Sines or cosines of a rotary embedding.
  BiasOrScale,       ///< Bias of a contraction, slope of an activation, scale or shift of a norm.
  Factor,            ///< Factor of a contraction, which sums up products.
  InitialState,      ///< Initial state of a recurrent layer.
  MergedWeight,      ///< Weights of several layers of the module, which an optimizer merged.
  NoGradient,        ///< Configures the operator, or is compared: no gradient flows to the operand.
  QuantizationScale, ///< Scale or zero point of a quantized tensor.
  RunningStatistic,  ///< State that training steps update.
  Scattered,         ///< Base or updates of a Scatter.
};

/// Represents all operands of an operator that has one role.
constexpr int64_t everyOperand = -1;

/// One version of an operator. Operand and attribute kinds follow the schema (Schema.h) and are
/// checked before these functions are called.
struct Operator {
  using Infer = std::function<mlir::LogicalResult(Inference &)>;
  using Evaluate = std::function<void(Inference &)>;
  using Convert = std::function<mlir::LogicalResult(Conversion &)>;

  /// Sets the node's result types from its operand types, attributes and constant operands. Null
  /// for operators that only passes create and that are rejected in files.
  Infer infer = {};
  /// Computes the results of a node whose operands are all constant, after type inference. Does not
  /// set results that must not be folded. Null if nodes are never folded.
  Evaluate evaluate = {};
  /// Builds the results in the core dialect. Null if the operator is not supported.
  Convert convert = {};
  /// The operands with a role, by number or `everyOperand`. An operand may have several roles.
  llvm::SmallVector<std::pair<int64_t, OperandRole>, 2> roles = {};
  /// Whether `convert` accepts integers of 2 and 4 bits, which programs store in 8 bits.
  bool acceptsPacked = false;
  /// Whether a node draws random numbers, or has a form for training steps, which may update states
  /// of the model. Such a node is executed once in a step.
  bool dependsOnStep = false;
};

/// The operators by name.
class Operators {
public:
  static const Operators &get();

  /// Registers `definition` for `sinceVersion` and for all later versions up to the next one that
  /// is registered. `name` is `domain::operator` for domains other than ai.onnx.
  void add(llvm::StringRef name, int64_t sinceVersion, Operator definition);

  /// Returns the definition with the greatest version that is at most `version`, or null.
  const Operator *find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;

  /// Returns the first version that has a conversion, if any.
  std::optional<int64_t> firstConverted(llvm::StringRef domain, llvm::StringRef name) const;

  /// Returns the names of all operators with a conversion, in the form that `add` accepts, in
  /// alphabetical order.
  std::vector<llvm::StringRef> convertedNames() const;

private:
  using Versions = std::map<int64_t, Operator>;
  const Versions *versionsOf(llvm::StringRef domain, llvm::StringRef name) const;

  llvm::StringMap<Versions> operators;
};

} // namespace mtc::onnx

template <> mtc::Registry<mtc::onnx::Operators> &mtc::Registry<mtc::onnx::Operators>::get();

#endif // MTC_FRONTEND_ONNX_OPERATORS_OPERATORS_H
