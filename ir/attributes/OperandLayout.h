//===- OperandLayout.h - How what a library call reads lies in memory -------------------------===//

#ifndef MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H
#define MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H

#include "ir/Mtc.h"

namespace mtc {

/// Bytes from the start of the buffer that a view is of, at which it begins; 0 for other values.
int64_t offsetInBuffer(mlir::Value value);

/// Whether a call takes each of its operands as it lies.
bool takesOperandLayouts(LibraryCallOpInterface call);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H
