//===- MetadataKeys.h - Metadata that mtc defines for ONNX files ------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_METADATAKEYS_H
#define MTC_FRONTEND_ONNX_READER_METADATAKEYS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mtc::onnx {

/// Model: the module's parameters and buffers as JSON of this format; docs/reference/onnx.md.
inline constexpr llvm::StringLiteral moduleKey = "mtc.module";
inline constexpr int64_t moduleFormat = 1;

/// Identity node: `true` if no gradient is propagated to the operand, as by PyTorch's detach.
inline constexpr llvm::StringLiteral detachedKey = "mtc.detached";

/// Identity node: the initializer of which the operand is the new value in training.
inline constexpr llvm::StringLiteral updateKey = "mtc.update";

/// Identity node of a number: the number that a flag of the program sets, such as label-smoothing.
inline constexpr llvm::StringLiteral settingKey = "mtc.setting";

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_METADATAKEYS_H
