//===- VariableLayout.h - Offsets of what outlives a step -------------------------------------===//

#ifndef MTC_PASSES_MEMORY_VARIABLELAYOUT_H
#define MTC_PASSES_MEMORY_VARIABLELAYOUT_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <optional>

namespace mtc {

/// Where the variables of a module lie in the arenas of their spaces.
class VariableLayout {
public:
  struct Entry {
    VariableOp variable;
    int64_t bytes;                 ///< with its padding
    std::optional<int64_t> offset; ///< none of a transient variable
    MemorySpace space;
  };

  /// Each variable is padded to the arena's alignment; those that are read as one flat tensor
  /// follow each other in that order, and `gap` bytes follow all others on the device. In other
  /// spaces what is copied as a whole begins at a page. Fails with a diagnostic if two flat tensors
  /// contradict, or have variables in more than one space.
  static mlir::FailureOr<VariableLayout> compute(mlir::ModuleOp module, int64_t gap);

  const Entry &operator[](mlir::FlatSymbolRefAttr symbol) const {
    return entries.find(symbol.getAttr())->second;
  }
  bool isTransient(mlir::FlatSymbolRefAttr symbol) const { return !(*this)[symbol].offset; }
  /// In no particular order.
  auto getEntries() const { return llvm::make_second_range(entries); }
  /// Bytes that those with an offset in a space take together.
  int64_t getSize(MemorySpace space = MemorySpace::Device) const {
    return sizes[static_cast<unsigned>(space)];
  }

private:
  friend class VariableLayouter;

  llvm::DenseMap<mlir::StringAttr, Entry> entries;
  std::array<int64_t, getMaxEnumValForMemorySpace() + 1> sizes = {};
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_VARIABLELAYOUT_H
