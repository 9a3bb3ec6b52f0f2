//===- WholeUpdate.h - Splits the update function by parameter --------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H
#define MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H

#include "ir/builders/TensorBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace mtc {

/// Splits the update of all parameters into one update per parameter. Requires that flat tensors of
/// several parameters are only used by elementwise operations, and that every other value depends
/// on a single parameter and its state, or on no parameter.
class WholeUpdate {
public:
  WholeUpdate(mlir::func::FuncOp function, mlir::SymbolTable &symbols)
      : function(function), symbols(symbols) {}

  /// Returns the reason why the update cannot be split, or an empty string. Must be called first.
  llvm::StringRef check();

  /// Returns whether the parameter is updated as part of a flat tensor.
  bool isFlat(llvm::StringRef parameter) const { return !owned.contains(parameter); }

  /// Copies the scalars that do not depend on any parameter, once for all parameters.
  void copyScalars(mlir::OpBuilder &builder);

  /// Emits the update of one parameter with the given gradient: first all reads, then all
  /// computations, then all writes, so that the kernels can be fused.
  void build(TensorBuilder &b, VariableOp parameter, mlir::Value gradient);

  /// Reduces the function to the update of these parameters, all of which must be flat, as smaller
  /// flat tensors.
  void restrict(TensorBuilder &b, const llvm::StringSet<> &parameters);

private:
  /// Written variables other than gradients, with their new values.
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
  /// Positions in the variables of a flat tensor, by parameter name.
  llvm::DenseMap<mlir::ArrayAttr, llvm::StringMap<unsigned>> positionsIn;
  /// Owning parameter of each operation that depends on a single parameter, and the operations of
  /// each parameter in block order.
  llvm::DenseMap<mlir::Operation *, mlir::StringAttr> owners;
  llvm::StringMap<llvm::SmallVector<mlir::Operation *>> owned;
  llvm::DenseSet<mlir::Value> flat; ///< Values computed from flat tensors.
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_WHOLEUPDATE_H
