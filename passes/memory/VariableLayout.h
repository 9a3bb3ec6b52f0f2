//===- VariableLayout.h - Offsets of what outlives a step -------------------------------------===//

#ifndef MTC_PASSES_MEMORY_VARIABLELAYOUT_H
#define MTC_PASSES_MEMORY_VARIABLELAYOUT_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace mtc {

/// Where the variables of a module lie in the arena.
class VariableLayout {
public:
  struct Entry {
    VariableOp variable;
    int64_t bytes;                 ///< with its padding
    std::optional<int64_t> offset; ///< none of a transient variable
  };

  /// Each variable is padded to the arena's alignment; those that are read as one flat tensor
  /// follow each other in that order, and `gap` bytes follow all others. Fails with a diagnostic if
  /// two flat tensors contradict.
  static mlir::FailureOr<VariableLayout> compute(mlir::ModuleOp module, int64_t gap);

  const Entry &operator[](mlir::FlatSymbolRefAttr symbol) const {
    return entries.find(symbol.getAttr())->second;
  }
  bool isTransient(mlir::FlatSymbolRefAttr symbol) const { return !(*this)[symbol].offset; }
  /// In no particular order.
  auto getEntries() const { return llvm::make_second_range(entries); }
  /// Bytes that those with an offset take together.
  int64_t getSize() const { return size; }

private:
  friend class VariableLayouter;

  llvm::DenseMap<mlir::StringAttr, Entry> entries;
  int64_t size = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_VARIABLELAYOUT_H
