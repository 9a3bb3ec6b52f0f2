//===- ParameterUses.h - Roles of parameters in a network -------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PARAMETERUSES_H
#define MTC_PASSES_OPTIMIZER_PARAMETERUSES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// Classifies the parameters of a training program. Weights of hidden layers are operands of
/// contractions, except embeddings (operands of gathers) and output layers (operands of the last
/// contraction or convolution before the loss). Operations in the bodies of scans count like
/// others. In a module without a training step, all parameters count as hidden.
class ParameterUses {
public:
  explicit ParameterUses(mlir::ModuleOp module);

  bool isHidden(llvm::StringRef parameter) const {
    return !hasStep || (factors.contains(parameter) && !embeddings.contains(parameter) &&
                        !heads.contains(parameter));
  }

  /// Returns whether the parameter is an embedding table, that is, the input of a gather.
  bool isEmbedding(llvm::StringRef parameter) const { return embeddings.contains(parameter); }

private:
  void addUses(mlir::Block &block);
  void findHeads(mlir::Value loss);
  /// Returns the parameter that a value was read from, through views, transpositions and casts; ""
  /// if there is none.
  llvm::StringRef findVariable(mlir::Value value) const;

  bool hasStep = false;
  llvm::DenseMap<mlir::Value, mlir::Value> captured; ///< by argument of a scan's body
  llvm::StringSet<> factors, embeddings, heads;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_PARAMETERUSES_H
