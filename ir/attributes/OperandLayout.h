//===- OperandLayout.h - Memory layout of library call operands -------------------------------===//

#ifndef MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H
#define MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns the byte offset of a view in its underlying buffer; 0 for other values.
int64_t offsetInBuffer(mlir::Value value);

/// Returns whether a call accepts the layouts of all of its operands.
bool takesOperandLayouts(LibraryCallOpInterface call);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_OPERANDLAYOUT_H
