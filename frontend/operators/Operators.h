//===- Operators.h - All that is known of each operator ---------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_OPERATORS_H
#define MTC_FRONTEND_OPERATORS_OPERATORS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace mtc::onnx {

class Conversion;
class Inference;

/// One definition of an operator. What the standard says of its operands' and attributes' kinds is
/// in Schema.h, and has been checked when these functions are called.
struct Operator {
  using Infer = std::function<mlir::LogicalResult(Inference &)>;
  using Evaluate = std::function<void(Inference &)>;
  using Convert = std::function<mlir::LogicalResult(Conversion &)>;

  /// Sets the node's result types from operand types, attributes and constant operands. Null where
  /// no file may have the operator, because only passes write it.
  Infer infer = {};
  /// Computes the results, all operands being constant and the result types inferred. Leaves
  /// results unset that are not to be folded. Null where nodes are never folded.
  Evaluate evaluate = {};
  /// Writes the results in the core. Null where the operator is not supported.
  Convert convert = {};
};

/// The operators by name, filled once by the families in the files of this folder.
class Operators {
public:
  static const Operators &get();

  /// A definition stands for later versions too, up to one that is added for itself. `name` is
  /// `domain::operator` outside ai.onnx.
  void add(llvm::StringRef name, int64_t sinceVersion, Operator definition);

  /// The definition of the greatest version not above `version`; null where there is none.
  const Operator *find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;

  /// The first version that is converted; nothing where none is.
  std::optional<int64_t> firstConverted(llvm::StringRef domain, llvm::StringRef name) const;

  /// The names of all operators that are converted, as `add` takes them, in alphabetical order.
  std::vector<llvm::StringRef> convertedNames() const;

private:
  using Versions = std::map<int64_t, Operator>;
  const Versions *versionsOf(llvm::StringRef domain, llvm::StringRef name) const;

  llvm::StringMap<Versions> operators;
};

// The families, each in the file of its name.
#define MTC_OPERATOR_FAMILY(NAME) void register##NAME##Operators(Operators &operators);
#include "frontend/operators/Families.inc"
#undef MTC_OPERATOR_FAMILY

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_OPERATORS_H
