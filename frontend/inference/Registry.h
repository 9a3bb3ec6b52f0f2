//===- Registry.h - What is known of each operator --------------------------------------------===//

#ifndef MTC_FRONTEND_INFERENCE_REGISTRY_H
#define MTC_FRONTEND_INFERENCE_REGISTRY_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace mtc::onnx {

class Inference;

/// What is computed of an operator, from one of its definitions on.
struct Rule {
  /// Sets the node's result types from operand types, attributes and constant operands.
  using Infer = std::function<mlir::LogicalResult(Inference &)>;
  /// Computes the results, all operands being constant and the result types inferred. Leaves
  /// results unset that are not to be folded.
  using Evaluate = std::function<void(Inference &)>;

  int64_t sinceVersion;
  Infer infer;
  Evaluate evaluate; ///< Null where nodes of this operator are never folded.
};

/// The rules by operator (Schema.h has their operands and attributes), filled once by the families
/// in `rules/`.
class Registry {
public:
  static const Registry &get();

  /// The rule of the greatest version not above `version`; null for an unknown operator. `name` is
  /// `domain::operator` outside ai.onnx.
  const Rule *find(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;

  /// Called in any order of versions. A rule stands for later definitions too, up to one with a
  /// rule of its own.
  void add(llvm::StringRef name, int64_t sinceVersion, Rule::Infer infer,
           Rule::Evaluate evaluate = {});

private:
  llvm::StringMap<llvm::SmallVector<Rule, 1>> rules;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_INFERENCE_REGISTRY_H
