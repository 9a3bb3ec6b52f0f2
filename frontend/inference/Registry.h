//===- Registry.h - What is known of each operator --------------------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_REGISTRY_H
#define MTC_FRONTEND_INFERENCE_REGISTRY_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>
#include <string>

namespace mtc::onnx {

class Inference;

/// The operands of an operator, from a text such as `"data starts ends axes? steps?"` with the
/// standard's names:
/// `?` marks those that may be left out, `...` (last) one or more, `...?` any number.
class Signature {
public:
  explicit Signature(llvm::StringRef text);
  size_t minimum() const { return required; }
  /// Nothing where any number may follow.
  std::optional<size_t> maximum() const {
    return variadic ? std::nullopt : std::optional(names.size());
  }
  bool isRequired(size_t operand) const { return operand < required; }
  llvm::StringRef name(size_t operand) const;

private:
  llvm::SmallVector<std::string> names;
  size_t required = 0;
  bool variadic = false;
};

/// One definition of an operator.
struct Rule {
  /// Sets the node's result types from operand types, attributes and constant operands.
  using Infer = std::function<mlir::LogicalResult(Inference &)>;
  /// Computes the results, all operands being constant and the result types inferred. Leaves
  /// results unset that are not to be folded.
  using Evaluate = std::function<void(Inference &)>;

  int64_t sinceVersion;
  Signature operands;
  Infer infer;
  Evaluate evaluate; ///< Null where nodes of this operator are never folded.
};

/// The rules by operator, filled once by the families in `rules/`.
class Registry {
public:
  static const Registry &get();

  /// The rule of the greatest version not above `version`; null for an unknown operator. `name` is
  /// `domain::operator` outside ai.onnx.
  const Rule *find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;

  /// Called in any order of versions.
  void add(llvm::StringRef name, int64_t sinceVersion, llvm::StringRef operands, Rule::Infer infer,
           Rule::Evaluate evaluate = {});

private:
  llvm::StringMap<llvm::SmallVector<Rule, 1>> rules;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_REGISTRY_H
