//===- ParameterUses.h - What parameters are to a network -------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PARAMETERUSES_H
#define MTC_PASSES_OPTIMIZER_PARAMETERUSES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// Which parameters of a training program are weights of hidden layers: factors of contractions,
/// but neither embeddings, of which indices choose rows, nor heads, factors of the last contraction
/// before the loss. All are in a module without a step.
class ParameterUses {
public:
  explicit ParameterUses(mlir::ModuleOp module);

  bool isHidden(llvm::StringRef parameter) const {
    return !hasStep || (factors.contains(parameter) && !embeddings.contains(parameter) &&
                        !heads.contains(parameter));
  }

  /// Whether indices choose rows of it.
  bool isEmbedding(llvm::StringRef parameter) const { return embeddings.contains(parameter); }

private:
  void findHeads(mlir::Value loss);

  bool hasStep = false;
  llvm::StringSet<> factors, embeddings, heads;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_PARAMETERUSES_H
