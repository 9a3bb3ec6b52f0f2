//===- BufferAssignment.h - Which buffer holds each value of a function -----------------------===//

#ifndef MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
#define MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H

#include "ir/Mtc.h"
#include "ir/TargetInfo.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/ArenaLayout.h"
#include "passes/memory/ArgumentLayout.h"
#include "passes/memory/Schedule.h"
#include "passes/memory/VariableLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace mtc {

/// A buffer of a function: fixed (a variable, an argument), or with a lifetime, to be laid out.
struct Buffer {
  std::optional<int64_t> fixedOffset;
  unsigned temporary = 0; // Index into `temporaries` where not fixed.
};

/// Which buffer holds each value of a function: views share their source's, results that of an
/// operand that dies there where they may, values written to a variable that of the variable.
class BufferAssignment {
public:
  /// What a function is assigned its buffers with. Those with a lifetime are appended to
  /// `temporaries`, in times that begin with `firstTime`.
  struct Context {
    const VariableLayout &variables;
    const ArgumentLayout &arguments;
    const TargetInfo &target;
    mlir::SymbolTable &symbols;
    llvm::SmallVectorImpl<LiveBuffer> &temporaries;
    int64_t firstTime;
  };
  static BufferAssignment compute(mlir::func::FuncOp function, const Schedule &schedule,
                                  const Context &context);

  Buffer bufferOf(mlir::Value value) const { return buffers.lookup(rootOf(value)); }
  /// The scratch of a library call or kernel, and its bytes (0 without one, negative where the
  /// target cannot run the call).
  std::pair<Buffer, int64_t> scratchOf(mlir::Operation *op) const { return scratches.lookup(op); }
  /// Whether a value that is written to a variable is computed there, so that nothing is left to
  /// do.
  bool isComputedInPlace(mlir::Operation *write) const { return forwarded.contains(write); }
  /// The slices of the transient variables that the function writes, by symbol.
  const llvm::MapVector<mlir::Attribute, Buffer> &transients() const { return transientBuffers; }

private:
  friend class BufferAssigner;
  BufferAssignment() = default;

  llvm::DenseMap<mlir::Value, Buffer> buffers; // By root.
  llvm::DenseMap<mlir::Operation *, std::pair<Buffer, int64_t>> scratches;
  llvm::DenseSet<mlir::Operation *> forwarded;
  llvm::MapVector<mlir::Attribute, Buffer> transientBuffers;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_BUFFERASSIGNMENT_H
