//===- KernelEditing.h - What passes over kernels do again and again --------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELEDITING_H
#define MTC_PASSES_KERNELS_KERNELEDITING_H

#include "ir/Mtc.h"

namespace mtc {

/// What a kernel may hold.
struct KernelLimits {
  unsigned inputs, operations;
};

int64_t pointsOf(KernelOp kernel);
KernelYieldOp yieldOf(KernelOp kernel);
/// The map at which a result is stored.
mlir::AffineMap storedAt(KernelOp kernel, unsigned result);
llvm::SmallVector<KernelLoadOp> loadsOf(mlir::BlockArgument argument);
/// Makes loads of one element of an operand, at an index that the point gives, one load.
void mergeLoads(mlir::BlockArgument argument);
/// Whether a kernel only moves elements.
bool onlyMoves(KernelOp kernel);
/// Whether a kernel only reads what is stored in another way, in fewer bytes or as variables that
/// are there all the same: no reader loses by doing so itself.
bool onlyDecodes(KernelOp kernel);

/// Whether a kernel only stores computed elements of f32 in 16 bits: it belongs to what computes
/// them, and its readers had better not read those.
bool onlyNarrows(KernelOp kernel);

/// The map that reads `from` (of the same elements in another shape) where `map`, over `space`,
/// reads `to`.
mlir::AffineMap reshapeMap(mlir::AffineMap map, mlir::ArrayRef<int64_t> to,
                           mlir::ArrayRef<int64_t> from, mlir::ArrayRef<int64_t> space);

/// The value that a value is a view of, if any; else the value itself.
mlir::Value rootOf(mlir::Value value);
/// The operations, views aside, that read a value itself or through views of it.
mlir::SmallVector<mlir::OpOperand *> findReaders(mlir::Value value);
/// Whether a value is what a variable holds, or a view of it: it is there for the whole step.
bool isOfVariable(mlir::Value value);
/// Whether one operation of a block stands in front of another. Operations near each other are
/// found by walking: MLIR's order is numbered anew, for the whole block, where operations were
/// created.
bool standsBefore(mlir::Operation *first, mlir::Operation *second);
/// Erases the views of a value, and views of these, that nothing reads.
void eraseUnreadViewsOf(mlir::Value value);

/// The reader's arguments for the producer's inputs; those that it lacks are added.
llvm::SmallVector<mlir::Value> shareInputs(KernelOp producer, KernelOp reader);

/// Removes operations of a body whose values nothing needs, and inputs that are not loaded.
void eraseUnread(KernelOp kernel);
/// The kernel without one of its results, which nothing reads, in the kernel's place.
KernelOp withoutResult(KernelOp kernel, int64_t result);

/// Why a kernel that holds both would be too large; empty if it is not.
llvm::StringRef exceedsLimits(KernelOp producer, KernelOp reader, const KernelLimits &limits);

/// load(view(x))[m] => load(x)[m'] for an input, where m' needs no division. False if it stays.
bool readThroughView(KernelOp kernel, unsigned input);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELEDITING_H
