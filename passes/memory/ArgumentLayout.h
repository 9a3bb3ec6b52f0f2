//===- ArgumentLayout.h - Slices of what the steps are given ----------------------------------===//

#ifndef MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H
#define MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Where the arguments of a module's functions lie. Arguments of the same name are one input of the
/// program: they share a slice.
class ArgumentLayout {
public:
  ArgumentLayout() = default;
  /// From `offset` on, with `gap` bytes behind each.
  ArgumentLayout(mlir::ModuleOp module, int64_t offset, int64_t gap);

  int64_t offsetOf(mlir::func::FuncOp function, unsigned argument) const {
    return offsets.lookup(nameOf(function, argument));
  }
  /// Bytes that all take together.
  int64_t getSize() const { return size; }

  /// The argument's `mtc.name`, or one made of the function's name and its number.
  static std::string nameOf(mlir::func::FuncOp function, unsigned argument);

private:
  llvm::StringMap<int64_t> offsets; // By name.
  int64_t size = 0;
};

} // namespace mtc

#endif // MTC_PASSES_MEMORY_ARGUMENTLAYOUT_H
