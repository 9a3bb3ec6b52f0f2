//===- Elements.h - Conversion of tensors to bytes and to text --------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_ELEMENTS_H
#define MTC_TOOLS_MTC_RUN_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <vector>

namespace mtc {

/// Returns the elements in their memory layout.
std::vector<char> toBytes(mlir::ElementsAttr elements);

/// Prints one line with the tensor's name, type and elements.
void printElements(llvm::raw_ostream &os, llvm::StringRef name, mlir::RankedTensorType type,
                   const char *bytes);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_ELEMENTS_H
