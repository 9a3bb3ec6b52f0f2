//===- GradientExchange.h - Sums of gradients over ranks --------------------------------------===//

#ifndef MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H
#define MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H

#include "ir/Mtc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace mtc {

/// Gradients that travel together, in the order in which the micro-step computes them. The sums of
/// their pieces over ranks and micro-steps are a variable of the owner.
struct GradientBucket {
  struct Gradient {
    VariableOp variable;
    mlir::RankedTensorType type; ///< of the whole gradient
    int64_t piece;               ///< number of elements
    int64_t offset;              ///< first element of the piece in the sums
  };

  mlir::SmallVector<Gradient> gradients;
  mlir::SmallVector<WriteOp> writes;
  mlir::Type element;
  int64_t bytes = 0;  ///< of the whole gradients
  int64_t pieces = 0; ///< elements of the sums
  VariableOp sums;
};

/// Makes the micro-step send each gradient's pieces to the ranks that own them, and add what it
/// receives in the order of ranks. A bucket is sent when its last gradient is known, and added when
/// the next bucket has been sent, so that a transfer overlaps with the backward pass. The sums are
/// new variables `@mtc.gradient_sum.N`.
class GradientExchange {
public:
  /// Whether the whole gradient stays in its variable.
  enum class Gradients { Kept, Released };

  GradientExchange(mlir::ModuleOp module, mlir::func::FuncOp microStep, int64_t bucketBytes);

  /// Exchanges the gradients of the variables for which `includes` holds.
  std::vector<GradientBucket> run(llvm::function_ref<bool(VariableOp)> includes,
                                  Gradients gradients);

private:
  std::vector<GradientBucket> makeBuckets(llvm::function_ref<bool(VariableOp)> includes);
  VariableOp addSums(const GradientBucket &bucket);
  AllToAllOp send(const GradientBucket &bucket, Gradients gradients);
  void add(AllToAllOp exchange, VariableOp sums, mlir::Operation *before);

  mlir::func::FuncOp microStep;
  mlir::SymbolTable symbols;
  int64_t ranks, bucketBytes;
  int64_t nextNumber = 0;
};

/// Adds the rows of a received value to a sum, one after the other.
mlir::Value addRows(class TensorBuilder &b, mlir::Value sum, mlir::Value rows);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H
