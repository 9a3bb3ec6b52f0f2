//===- AdaptableUses.h - Contractions by a weight ---------------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H
#define MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {

/// A contraction that has a weight as an operand.
struct AdaptableUse {
  ContractOp contraction;
  unsigned operand; ///< The weight's: 0 or 1.
  int64_t axis;     ///< Of the weight: the one that is summed over.
};

/// How a function uses a variable.
struct AdaptableUses {
  llvm::SmallVector<AdaptableUse> uses; ///< In the order in which they run.
  std::string reason;                   ///< Why it cannot be adapted; "": it can.
  bool isConvolved = false;

  /// The uses of a matrix by contractions alone, as it is or transposed, and `throughCasts` as
  /// elements of another type.
  static AdaptableUses find(VariableOp variable, mlir::func::FuncOp function,
                            bool throughCasts = false);
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_ADAPTABLEUSES_H
