//===- LowRankUpdate.h - Low-rank updates of contractions -------------------------------------===//

#ifndef MTC_PASSES_ADAPTERS_LOWRANKUPDATE_H
#define MTC_PASSES_ADAPTERS_LOWRANKUPDATE_H

#include "ir/builders/TensorBuilder.h"
#include "passes/adapters/AdaptableUses.h"

namespace mtc {

/// Random streams of the dropout of adapters.
class DropoutStreams {
public:
  /// Continues after the streams that the module already uses.
  explicit DropoutStreams(mlir::ModuleOp module);

  /// Builds dropout of `x` in training; inference keeps x.
  mlir::Value buildDropout(TensorBuilder &b, mlir::Value x, double ratio);

private:
  mlir::ModuleOp module;
  int64_t next = 0;
};

/// Adds one adapter to the contractions with its base.
class LowRankUpdate {
public:
  VariableOp base, down, up;
  VariableOp magnitude; ///< null without DoRA
  int64_t axis;         ///< The base's axis of the adapter's input.
  double scale, dropout;

  /// contract(x, w) => contract(x, w) + contract(scale * contract(x, first), second), where
  /// training drops elements of the x of the update. The factors are (down, up) for contractions
  /// over the base's `axis` and (up, down) for its other axis.
  ///
  /// With a magnitude m, and n the norms of the rows of w + scale * up down, which gradients treat
  /// as constant: contract(x, w) => m / n * (contract(x, w) + ...). All uses contract over `axis`.
  /// With dropout, contract(x, w) + (m / n - 1) * contract(dropped x, w) + m / n * ..., as in PEFT.
  ///
  /// `uses` must be in program order.
  void apply(llvm::ArrayRef<AdaptableUse> uses, DropoutStreams &streams);

private:
  mlir::Value apply(const AdaptableUse &use, TensorBuilder &b, DropoutStreams &streams,
                    mlir::Value ratio, mlir::Operation *&user);
  mlir::Value buildRatio(TensorBuilder &b);
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_LOWRANKUPDATE_H
