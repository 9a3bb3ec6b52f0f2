//===- BufferAssignment.h - Which buffer holds each value of a function -----------------------===//

#ifndef MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
#define MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H

#include "ir/Mtc.h"
#include "ir/TargetInfo.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/ArenaLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mtc {

/// The variables that an operation reads or writes; empty for other operations.
mlir::SmallVector<mlir::FlatSymbolRefAttr> readVariables(mlir::Operation *op);
mlir::SmallVector<mlir::FlatSymbolRefAttr> writtenVariables(mlir::Operation *op);

/// Which operations of a block read and write each variable, in the block's order.
class VariableAccesses {
public:
  explicit VariableAccesses(mlir::Block &block);
  mlir::ArrayRef<mlir::Operation *> readersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(readers, variable);
  }
  mlir::ArrayRef<mlir::Operation *> writersOf(mlir::FlatSymbolRefAttr variable) const {
    return find(writers, variable);
  }

private:
  using ByVariable = llvm::DenseMap<mlir::Attribute, mlir::SmallVector<mlir::Operation *, 2>>;
  static mlir::ArrayRef<mlir::Operation *> find(const ByVariable &map, mlir::Attribute variable) {
    auto found = map.find(variable);
    return found == map.end() ? mlir::ArrayRef<mlir::Operation *>() : found->second;
  }

  ByVariable readers, writers;
};

/// A buffer of a function: fixed (a variable, an argument), or with a lifetime, to be laid out.
struct Buffer {
  std::optional<int64_t> fixedOffset;
  unsigned temporary = 0; // Index into `temporaries` where not fixed.
};

/// Decides for each value of a function where it lies relative to others: views share their
/// source's buffer, results that of an operand that dies there where they may, values written to a
/// variable that of the variable. Times are operations' numbers, from `firstTime`.
class BufferAssignment {
public:
  /// `argumentOffsets` are by the argument's `mtc.name`. Buffers with a lifetime are appended to
  /// `temporaries`.
  BufferAssignment(mlir::func::FuncOp function, mlir::SymbolTable &symbols,
                   const llvm::StringMap<int64_t> &argumentOffsets, const TargetInfo &target,
                   llvm::SmallVectorImpl<LiveBuffer> &temporaries, int64_t firstTime);

  Buffer bufferOf(mlir::Value value) { return buffers.lookup(rootOf(value)); }
  /// Bytes from the start of its buffer at which a value begins.
  static int64_t offsetInBuffer(mlir::Value value);
  /// The scratch of a library call or kernel, and its bytes (0 without one).
  std::pair<Buffer, int64_t> scratchOf(mlir::Operation *op) { return scratches.lookup(op); }
  /// Whether a value that is written to a variable is computed there, so that nothing is left to
  /// do.
  bool isComputedInPlace(mlir::Operation *write) const { return forwarded.contains(write); }
  /// Whether the call takes each operand's layout.
  static bool liesAsTaken(LibraryCallOpInterface call);
  /// The places of the transient variables that the function writes.
  const llvm::MapVector<mlir::Attribute, Buffer> &transients() const { return transientBuffers; }
  int64_t endTime() const { return lastTime; }
  int64_t timeOf(mlir::Operation *op) const { return times.lookup(op); }

private:
  int64_t lastUseOf(mlir::Value value);
  void findLifetimes();
  void placeReads();
  void forwardWrites();
  void placeResults(mlir::Operation *op);
  bool mayForward(mlir::Operation *write, mlir::Value root);
  bool mayShare(mlir::OpResult result, mlir::Value root);
  bool mayShare(KernelOp kernel, unsigned result, mlir::Value root);
  std::optional<unsigned> dyingOperand(mlir::OpResult result);
  std::optional<unsigned> operandAtPlaceOf(mlir::OpResult result);
  Buffer newTemporary(int64_t bytes, int64_t begin, int64_t end);
  VariableOp lookup(mlir::FlatSymbolRefAttr variable);
  Buffer bufferOfVariable(mlir::FlatSymbolRefAttr variable, int64_t birth);

  mlir::func::FuncOp function;
  VariableAccesses accesses;
  mlir::SymbolTable &symbols;
  const llvm::StringMap<int64_t> &argumentOffsets;
  const TargetInfo &target;
  llvm::SmallVectorImpl<LiveBuffer> &temporaries;
  int64_t firstTime, lastTime;
  llvm::DenseMap<mlir::Operation *, int64_t> times;
  llvm::DenseMap<mlir::Value, int64_t> lastUses; // By root.
  llvm::DenseMap<mlir::Value, Buffer> buffers;   // By root.
  llvm::DenseMap<mlir::Operation *, std::pair<Buffer, int64_t>> scratches;
  llvm::DenseSet<mlir::Operation *> forwarded;
  llvm::MapVector<mlir::Attribute, Buffer> transientBuffers; // By symbol.
};

/// Moves each write behind the last use of its variable's old value, which lies in the variable's
/// place. Fails with a diagnostic where the new value is read or replaced before that.
mlir::LogicalResult sinkWrites(mlir::func::FuncOp function);

} // namespace mtc

#endif // MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
