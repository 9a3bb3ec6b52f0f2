//===- VariableLayout.h - Arena offsets of variables ------------------------------------------===//

#ifndef MTC_PASSES_MEMORY_VARIABLELAYOUT_H
#define MTC_PASSES_MEMORY_VARIABLELAYOUT_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <optional>

namespace mtc {

/// Arena offsets of a module's variables in their memory spaces.
class VariableLayout {
public:
  struct Entry {
    VariableOp variable;
    int64_t bytes;                 ///< of one copy, padding included
    std::optional<int64_t> offset; ///< none for a transient variable, or one of another stage
    MemorySpace space;
  };

  /// Computes the layout. Each variable is padded to the arena's alignment. Variables that are read
  /// as one flat tensor are contiguous and in that order. On the device, `gap` unused bytes follow
  /// every other variable. In other memory spaces, each contiguous range that is copied as a whole
  /// starts at a page boundary. Fails with a diagnostic if two flat tensors require contradictory
  /// orders of variables, or if the variables of a flat tensor are in different memory spaces.
  static mlir::FailureOr<VariableLayout> compute(mlir::ModuleOp module, int64_t gap);

  const Entry &operator[](mlir::FlatSymbolRefAttr symbol) const {
    return entries.find(symbol.getAttr())->second;
  }
  bool isTransient(mlir::FlatSymbolRefAttr symbol) const { return !(*this)[symbol].offset; }
  /// In unspecified order.
  auto getEntries() const { return llvm::make_second_range(entries); }
  /// Returns the total bytes of the variables that have an offset in a memory space.
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
