//===- FunctionPadder.h - Longer axes of a function's values ----------------------------------===//

#ifndef MTC_PASSES_SPLITTING_FUNCTIONPADDER_H
#define MTC_PASSES_SPLITTING_FUNCTIONPADDER_H

#include "passes/splitting/AxisGroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// The padding of the axes of a group: `unit` elements become `padded` ones.
struct AxisPadding {
  int64_t unit = 1, padded = 1;

  /// Returns the number of elements that follow each block of an axis.
  int64_t after(int64_t block) const { return block / unit * (padded - unit); }
  bool operator==(const AxisPadding &other) const {
    return unit == other.unit && padded == other.padded;
  }
};

/// Axes that get padding, with all that depends on them. Their splits have one part.
struct PaddedAxes {
  Splits splits;
  llvm::DenseMap<mlir::Operation *, AxisPadding> operations;
  llvm::StringMap<AxisPadding> families;
};

/// Lets the operations of a function compute values with padding. Elements of padding are
/// unspecified, except that they are 0 in variables; operations that combine elements along an axis
/// read neutral elements instead.
class FunctionPadder {
public:
  FunctionPadder(mlir::func::FuncOp function, const PaddedAxes &axes,
                 const VariableFamilies &families)
      : function(function), axes(axes), families(families) {}

  void run();

private:
  struct Padded {
    AxisSplitAttr split;
    AxisPadding padding;
    mlir::Value value;
    bool isZero = false;    ///< the elements of padding are 0
    mlir::Value whole = {}; ///< without padding; null until an operation needs it
  };

  Padded paddedOf(TensorBuilder &b, mlir::Value original, AxisSplitAttr split, AxisPadding padding);
  mlir::Value wholeOf(TensorBuilder &b, mlir::Value original);
  mlir::Value withNeutral(TensorBuilder &b, const Padded &padded, ReductionKind kind);
  void padOperation(mlir::Operation *op, const OperationSplit &split, AxisPadding padding);
  mlir::Operation *buildPadded(TensorBuilder &b, mlir::Operation *op, const OperationSplit &split,
                               AxisPadding padding, bool &isZero);
  void padAccess(mlir::Operation *access, llvm::StringRef variable);
  void dropPaddingOfOperands(mlir::Operation *op);

  mlir::func::FuncOp function;
  const PaddedAxes &axes;
  const VariableFamilies &families;
  llvm::DenseMap<mlir::Value, Padded> known; ///< by original value
  llvm::DenseMap<std::pair<mlir::Value, ReductionKind>, mlir::Value> masked;
  llvm::SmallVector<mlir::Operation *> replaced;
};

/// Returns whether FunctionPadder can build an operation whose axes have padding.
bool canPad(mlir::Operation *op, const OperationSplit &split);

} // namespace mtc

#endif // MTC_PASSES_SPLITTING_FUNCTIONPADDER_H
