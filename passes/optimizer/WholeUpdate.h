//===- WholeUpdate.h - The update of all parameters, taken apart ------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H
#define MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H

#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// The update of all parameters, which can be taken apart into one for each: flat tensors of
/// several are computed by elementwise operations; what is not flat is computed of one parameter
/// and its state alone, or of none.
class WholeUpdate {
public:
  WholeUpdate(mlir::func::FuncOp function, mlir::SymbolTable &symbols)
      : function(function), symbols(symbols) {}

  /// The reason why it cannot be taken apart; empty if it can. To be called before all else.
  llvm::StringRef check();

  /// Whether the parameter is updated as a part of flat tensors.
  bool isFlat(llvm::StringRef parameter) const { return !owned.contains(parameter); }

  /// What is computed of no parameter: scalars, once for all.
  void copyScalars(mlir::OpBuilder &builder);

  /// Writes the update of one parameter, whose gradient is given: what is read, then what is
  /// computed, then what is written, so that nothing keeps its kernels apart.
  void build(TensorBuilder &b, VariableOp parameter, mlir::Value gradient);

  /// Makes the function the update of these parameters alone, all flat, as flat tensors of theirs.
  void restrict(TensorBuilder &b, const llvm::StringSet<> &parameters);

private:
  /// Variables that are no gradients, and what is written to them.
  using Written = llvm::SmallVectorImpl<std::pair<llvm::StringRef, mlir::Value>>;

  bool place(mlir::Operation *op);
  mlir::StringAttr findOwner(mlir::Operation *op);
  mlir::StringAttr ownerOf(mlir::Value value) const { return owners.lookup(value.getDefiningOp()); }
  bool isGradient(llvm::StringRef variable) const;
  void buildFlat(TensorBuilder &b, VariableOp parameter, mlir::Value gradient, Written &written);
  void buildOwned(TensorBuilder &b, VariableOp parameter, mlir::Value gradient, Written &written);
  mlir::ArrayAttr select(mlir::ArrayAttr variables, const llvm::StringSet<> &parameters) const;
  mlir::RankedTensorType flatType(mlir::ArrayAttr variables) const;
  mlir::Value compute(TensorBuilder &b, mlir::Value flat, mlir::RankedTensorType shape,
                      llvm::DenseMap<mlir::Value, mlir::Value> &known);
  std::optional<unsigned> indexIn(mlir::ArrayAttr variables, VariableOp parameter);

  mlir::func::FuncOp function;
  mlir::SymbolTable &symbols;
  mlir::IRMapping shared;
  /// By the parameter's name.
  llvm::DenseMap<mlir::ArrayAttr, llvm::StringMap<unsigned>> positionsIn;
  /// Of what is computed of one parameter: which it is, and by its name all of it in order.
  llvm::DenseMap<mlir::Operation *, mlir::StringAttr> owners;
  llvm::StringMap<llvm::SmallVector<mlir::Operation *>> owned;
  llvm::DenseSet<mlir::Value> flat; ///< What is computed of flat tensors.
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H
