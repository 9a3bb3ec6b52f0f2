//===- KernelEditing.h - Helpers of kernel passes ---------------------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELEDITING_H
#define MTC_PASSES_KERNELS_KERNELEDITING_H

#include "ir/Mtc.h"

namespace mtc {

/// Upper limits of a fused kernel.
struct KernelLimits {
  unsigned inputs, operations;
};

/// Returns the size of a tensor in bytes.
int64_t bytesOf(mlir::Value tensor);
/// Returns the number of iterations.
int64_t iterationsOf(KernelOp kernel);
KernelYieldOp yieldOf(KernelOp kernel);
/// Returns the affine map from an iteration to the element of the result that it stores.
mlir::AffineMap storedAt(KernelOp kernel, unsigned result);
/// Returns the loads of an operand; other uses are excluded.
llvm::SmallVector<KernelLoadOp> loadsOf(mlir::BlockArgument argument);
/// Returns whether the kernel adds the rows of an operand.
bool isReadByRows(mlir::BlockArgument argument);
/// Merges loads of the same element of an operand, except for loads with a guard or symbols.
void mergeLoads(mlir::BlockArgument argument);
/// Returns whether a kernel only moves elements.
bool onlyMoves(KernelOp kernel);
/// Returns whether a kernel only decodes elements: its operands have fewer bytes, or are variables,
/// which are live throughout the step. Each user can then decode the operands itself at no cost.
bool onlyDecodes(KernelOp kernel);

/// Returns whether a kernel only rounds computed f32 elements to 16-bit storage. Such a kernel
/// belongs to its producer, and its users should read the 16-bit elements.
bool onlyNarrows(KernelOp kernel);

/// Composes `map`, which reads the shape `to` over the iteration space, with a reshape: returns the
/// map that reads the same elements in the shape `from`.
mlir::AffineMap reshapeMap(mlir::AffineMap map, mlir::ArrayRef<int64_t> to,
                           mlir::ArrayRef<int64_t> from, mlir::ArrayRef<int64_t> space);

/// Returns the value that a value is a view of, or the value itself.
mlir::Value rootOf(mlir::Value value);
/// Returns the uses of a value and of its views by operations other than views.
mlir::SmallVector<mlir::OpOperand *> findUses(mlir::Value value);
/// Returns whether a value is the read of a variable or a view of it, and thus live for the whole
/// step.
bool isOfVariable(mlir::Value value);
/// Returns whether `first` precedes `second` in a block. Searches nearby operations first, since
/// MLIR renumbers the whole block for order queries after operations were created.
bool standsBefore(mlir::Operation *first, mlir::Operation *second);
/// Erases views of a value without users, transitively.
void eraseUnreadViewsOf(mlir::Value value);

/// Returns the consumer's block arguments for the producer's operands; missing operands are added.
llvm::SmallVector<mlir::Value> shareInputs(KernelOp producer, KernelOp consumer);

/// Erases dead operations of the body and operands without loads.
void eraseUnread(KernelOp kernel);
/// Replaces a kernel by one without the given result, which must have no users.
KernelOp withoutResult(KernelOp kernel, int64_t result);

/// Returns the reason why a kernel fused from both would be too large; empty if it would not.
llvm::StringRef exceedsLimits(KernelOp producer, KernelOp consumer, const KernelLimits &limits);

/// load(view(x))[m] => load(x)[m'] for an operand, if m' needs no division. Returns false if the
/// operand is not changed.
bool readThroughView(KernelOp kernel, unsigned input);

/// Returns whether other ranks add values to a result of the kernel, whose order of summation must
/// then not depend on other operations.
bool isAddendOfRanks(KernelOp kernel);

/// Returns whether the order of sums in the program that contains `op` must depend on their lengths
/// only: ranks divide layers or sequences, or one rank computes the same sums.
bool keepsSumOrder(mlir::Operation *op);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELEDITING_H
