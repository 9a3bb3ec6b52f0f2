//===- AdaptableUses.h - Contractions with a weight -------------------------------------------===//
//
// Finds the contractions that use a weight. Low-rank adapters and the quantization of frozen
// matrices apply only to weights that no other operation uses.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H
#define MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// A contraction with a weight as one of its operands.
struct AdaptableUse {
  ContractOp contraction;
  unsigned operand; ///< Operand number of the weight: 0 or 1.
  int64_t axis;     ///< The weight's contracted axis.
};

/// All uses of a variable in a function.
struct AdaptableUses {
  llvm::SmallVector<AdaptableUse> uses; ///< In program order.
  std::string reason;                   ///< Why the variable cannot be adapted; "" if it can.
  bool isConvolved = false;

  /// Returns the contractions that use a matrix directly or through transposes, and with
  /// `throughCasts` also through casts to other element types. Any other user sets `reason`.
  static AdaptableUses find(VariableOp variable, mlir::func::FuncOp function,
                            bool throughCasts = false);
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H
