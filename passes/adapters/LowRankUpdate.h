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

/// The update that an adapter adds to contractions with its base.
struct LowRankUpdate {
  VariableOp down, up;
  int64_t axis; ///< The base's axis of the adapter's input.
  double scale, dropout;

  /// contract(x, w) => contract(x, w) + contract(scale * contract(x, first), second), where
  /// training drops elements of the x of the update. The factors are (down, up) for contractions
  /// over the base's `axis` and (up, down) for its other axis.
  void apply(const AdaptableUse &use, DropoutStreams &streams);
};

} // namespace mtc

#endif // MTC_PASSES_ADAPTERS_LOWRANKUPDATE_H
