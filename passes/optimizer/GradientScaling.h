//===- GradientScaling.h - Unscaling and clipping of gradients --------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H
#define MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H

#include "passes/optimizer/LossScale.h"
#include "passes/optimizer/OptimizerOptions.h"
#include "passes/optimizer/UpdatedGradient.h"

namespace mtc {

/// Limits of gradients; nullopt for no limit.
struct ClipLimits {
  std::optional<Number> norm, value;
};

/// Transforms gradients before the optimizer uses them: divides them by the loss scale and, if they
/// are accumulated over micro-steps, by the fraction of targets that counted; then clips by value,
/// then by norm. Division and norm clipping are combined into one factor.
class GradientScaling {
public:
  using Value = mlir::Value;

  /// `reportsNorm`: the norm is a result. `lossScale` must outlive the object; it is null if the
  /// loss is not scaled, `accumulation` if an update has a single micro-step, and `ranks` if the
  /// program has no ranks. `stagesOfGradients` has the stages of all gradients of the program if
  /// the module is that of a pipeline stage; otherwise it is null.
  GradientScaling(ClipLimits limits, bool reportsNorm, const LossScale *lossScale,
                  AccumulationAttr accumulation, RanksAttr ranks,
                  mlir::DenseI64ArrayAttr stagesOfGradients)
      : limits(limits), reportsNorm(reportsNorm), lossScale(lossScale), accumulation(accumulation),
        ranks(ranks), stagesOfGradients(stagesOfGradients) {}

  /// Computes the global gradient norm, if requested, and the factor.
  void build(TensorBuilder &b, llvm::ArrayRef<UpdatedGradient> gradients);
  /// Returns the norm before clipping, an f64 scalar, or null if it was not requested.
  Value getNorm() const { return norm; }
  /// Returns a gradient with unscaling and clipping applied.
  Value apply(TensorBuilder &b, Value gradient) const;

private:
  void findScale(TensorBuilder &b);
  Value limit(TensorBuilder &b, Value gradient) const;
  Value scaled(TensorBuilder &b, Value given) const;
  Value sumBlocks(TensorBuilder &b, Value gradient, int64_t block) const;
  Value buildNorm(TensorBuilder &b, llvm::ArrayRef<UpdatedGradient> gradients) const;
  Value sumSquaresOfRanks(TensorBuilder &b, llvm::ArrayRef<UpdatedGradient> gradients) const;
  llvm::SmallVector<Value> gatherStages(TensorBuilder &b, llvm::ArrayRef<Value> own) const;

  ClipLimits limits;
  bool reportsNorm;
  const LossScale *lossScale;
  AccumulationAttr accumulation;
  RanksAttr ranks;
  mlir::DenseI64ArrayAttr stagesOfGradients;
  /// Scale of the given gradients and its inverse, f64 scalars; null if the scale is 1.
  Value scale, inverse;
  Value norm, factor; ///< The factor is null if it is 1.
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_GRADIENTSCALING_H
