//===- ReservedNames.h - Names that a program's own parts have --------------------------------===//

#ifndef MTC_IR_RESERVEDNAMES_H
#define MTC_IR_RESERVEDNAMES_H

#include "llvm/ADT/StringRef.h"

namespace mtc {

/// Whether functions, kernels or scalars of a program's module have the name, so that no variable
/// of the model's can.
bool isReservedSymbol(llvm::StringRef name);

/// Whether `evaluate` has a result of the name beside the model's outputs.
bool isReservedResult(llvm::StringRef name);

} // namespace mtc

#endif // MTC_IR_RESERVEDNAMES_H
