//===- GradientExchange.h - Sums of gradients over ranks --------------------------------------===//

#ifndef MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H
#define MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H

#include "ir/builders/TensorBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace mtc {

/// Gradients that are sent together, in the order in which the micro-step computes them. The sums
/// of their pieces over the ranks of a data group are a variable of the owner if each micro-step
/// adds to them, and a value of the update otherwise.
struct GradientBucket {
  struct Gradient {
    VariableOp variable;
    mlir::RankedTensorType type; ///< of the whole gradient
    int64_t piece;               ///< number of elements
    int64_t offset;              ///< first element of the piece in the sums
  };

  mlir::SmallVector<Gradient> gradients;
  mlir::SmallVector<WriteOp> writes; ///< the last one of each gradient, if any
  mlir::Type element;
  int64_t bytes = 0;  ///< of the whole gradients
  int64_t pieces = 0; ///< elements of the sums
  VariableOp sums;
  mlir::Value sumsInUpdate;
};

/// Makes the micro-step send each gradient's pieces to the ranks that own them, and add what it
/// receives in the order of ranks. A bucket is sent when its last gradient is known, and added when
/// the next bucket has been sent, so that a transfer overlaps with the backward pass. The sums are
/// new variables `@mtc.gradient_sum.N`.
///
/// Alternatively, the micro-steps of a rank have added their gradients, and the update sends and
/// adds the sums of the ranks.
class GradientExchange {
public:
  /// Whether the whole gradient stays in its variable.
  enum class Gradients { Kept, Released };

  GradientExchange(mlir::ModuleOp module, mlir::func::FuncOp microStep, int64_t bucketBytes);

  /// Exchanges the gradients of the variables for which `includes` holds.
  std::vector<GradientBucket> run(llvm::function_ref<bool(VariableOp)> includes,
                                  Gradients gradients);
  /// Emits the exchange into an update, at the builder's insertion point.
  std::vector<GradientBucket> runInUpdate(TensorBuilder &b,
                                          llvm::function_ref<bool(VariableOp)> includes);

private:
  std::vector<GradientBucket> makeBuckets(llvm::function_ref<bool(VariableOp)> includes,
                                          bool inUpdate);
  VariableOp addSums(const GradientBucket &bucket);
  AllToAllOp send(const GradientBucket &bucket, Gradients gradients);
  AllToAllOp send(TensorBuilder &b, const GradientBucket &bucket,
                  mlir::ArrayRef<mlir::Value> values) const;
  void add(AllToAllOp exchange, VariableOp sums, mlir::Operation *before);

  mlir::func::FuncOp microStep;
  mlir::SymbolTable symbols;
  RankGroup group;
  int64_t bucketBytes;
  int64_t nextNumber = 0;
};

/// Adds the rows of a received matrix to a sum in the order of ranks, from a column on. Without a
/// sum, the result has the shape of a row. See `mtc.add_rows`.
mlir::Value addRows(TensorBuilder &b, mlir::Value sum, mlir::Value rows, int64_t column = 0);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_GRADIENTEXCHANGE_H
