//===- TypeCode.h - Element types as the program's ABI numbers them ---------------------------===//

#ifndef MTC_IR_TYPECODE_H
#define MTC_IR_TYPECODE_H

#include "runtime/abi/program.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace mtc {

MtcType typeCode(mlir::Type element);

/// The word that stands for a number of MtcType in text, such as `f32`; "" for another number.
llvm::StringRef typeName(uint32_t code);
std::optional<uint32_t> typeNamed(llvm::StringRef name);

/// Whether sums of products of elements `operand` may be stored or added to as `element`: as they
/// are, or in f32 where they have 16 bits.
bool holdsSumsOf(mlir::Type operand, mlir::Type element);

/// Bytes of an element.
int64_t bytesOfType(uint32_t code);

} // namespace mtc

#endif // MTC_IR_TYPECODE_H
