//===- Elements.h - Tensors as bytes and as text ----------------------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_ELEMENTS_H
#define MTC_TOOLS_MTC_RUN_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace mtc {

/// Elements as they lie in memory.
std::vector<char> toBytes(mlir::ElementsAttr elements);

/// One line: the tensor's name, its type, its elements.
void printElements(llvm::raw_ostream &os, llvm::StringRef name, mlir::RankedTensorType type,
                   const char *bytes);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_ELEMENTS_H
