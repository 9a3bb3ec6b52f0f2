// Element types: their sizes, and their names in messages and in safetensors files.
#ifndef MTC_RUNTIME_SUPPORT_ELEMENT_TYPE_H
#define MTC_RUNTIME_SUPPORT_ELEMENT_TYPE_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

int64_t typeBytes(uint32_t type);

/// As the compiler's messages write it: `f32`, `i64`, `bool`.
const char *typeName(uint32_t type);

/// As safetensors writes it: `F32`, `I64`, `BOOL`.
const char *safetensorsTypeName(uint32_t type);
std::optional<MtcType> typeOfSafetensorsName(std::string_view name);

/// As numpy's `astype` takes it: `np.float32`; for advice in messages.
const char *numpyTypeName(uint32_t type);

bool isInteger(uint32_t type);
bool isSignedInteger(uint32_t type);
/// The integer type that `typeName` gives this name.
std::optional<MtcType> integerTypeOfName(std::string_view name);

/// `[4, 256]`, as messages show shapes.
std::string shapeText(const std::vector<int64_t> &dims);
std::vector<int64_t> shapeOf(const MtcTensor &tensor);

/// The number of elements; nothing if a dimension is negative or the product times `elementBytes`
/// overflows.
std::optional<int64_t> elementCount(const std::vector<int64_t> &dims, int64_t elementBytes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_ELEMENT_TYPE_H
