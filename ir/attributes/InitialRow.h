//===- InitialRow.h - Padding row of an embedding ---------------------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_INITIALROW_H
#define MTC_IR_ATTRIBUTES_INITIALROW_H

#include "llvm/ADT/StringRef.h"

namespace mtc {

/// On a variable that starts with random numbers: the index of a row, along the first axis, that
/// starts with zeros; an integer, which counts from the end if it is negative.
inline constexpr llvm::StringLiteral zeroRowAttribute = "mtc.zero_row";

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_INITIALROW_H
