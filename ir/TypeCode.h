//===- TypeCode.h - Element types and their codes in the program's ABI ------------------------===//

#ifndef MTC_IR_TYPECODE_H
#define MTC_IR_TYPECODE_H

#include "runtime/abi/program.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace mtc {

/// Returns the ABI code of an element type that tensors of the dialect may have.
MtcType typeCode(mlir::Type element);

/// Returns the type's name for an MtcType code, such as `f32`, or "" for an invalid code.
llvm::StringRef typeName(uint32_t code);
/// Returns the MtcType code for a name, or nullopt if no type has that name.
std::optional<uint32_t> typeNamed(llvm::StringRef name);

/// Returns whether sums of products of `operand` elements may be stored in or added to `element`:
/// the same type, or f32 for bf16 and f16.
bool holdsSumsOf(mlir::Type operand, mlir::Type element);

/// Returns the size of an element in bytes.
int64_t bytesOfType(uint32_t code);

} // namespace mtc

#endif // MTC_IR_TYPECODE_H
