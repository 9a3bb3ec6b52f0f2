//===- ArgumentLayout.h - Arena offsets of function arguments ---------------------------------===//

#ifndef MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H
#define MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Arena offsets of the arguments of a module's functions. Arguments with the same name are the
/// same program input, possibly in several shapes, and begin at the same offset.
class ArgumentLayout {
public:
  ArgumentLayout() = default;
  /// Allocates the arguments from `offset` on, with `gap` unused bytes after each one.
  ArgumentLayout(mlir::ModuleOp module, int64_t offset, int64_t gap);

  int64_t offsetOf(mlir::func::FuncOp function, unsigned argument) const {
    return offsets.lookup(nameOf(function, argument));
  }
  /// Returns the total bytes of all arguments, gaps included.
  int64_t getSize() const { return size; }
  /// Returns the offset after the last argument.
  int64_t getEnd() const { return begin + size; }

  /// Returns the argument's `mtc.name` attribute, or a name derived from the function's name and
  /// the argument's index.
  static std::string nameOf(mlir::func::FuncOp function, unsigned argument);

private:
  llvm::StringMap<int64_t> offsets; // By argument name.
  int64_t begin = 0, size = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H
