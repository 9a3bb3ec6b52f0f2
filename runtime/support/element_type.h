// Element types: sizes, and names in messages.
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

/// Returns the name in messages, as the compiler prints it: `f32`, `i64`, `bool`.
const char *typeName(uint32_t type);

/// Returns the argument of numpy's `astype`, for advice in messages: `np.float32`.
const char *numpyTypeName(uint32_t type);
/// Returns the name in numpy, PyTorch and configurations of transformers: `float32`.
std::string plainTypeName(uint32_t type);
bool isInteger(uint32_t type);
/// Returns whether elements of an integer type can have the value.
bool isRepresentable(int64_t value, uint32_t type);
/// Returns the type with this `typeName`.
std::optional<MtcType> typeOfName(std::string_view name);

/// Returns a shape in the form that messages show: `[4, 256]`.
std::string shapeText(const std::vector<int64_t> &dims);
std::vector<int64_t> shapeOf(const MtcTensor &tensor);

/// Returns the number of elements; nullopt if a dimension is negative or the number times
/// `elementBytes` overflows.
std::optional<int64_t> elementCount(const std::vector<int64_t> &dims, int64_t elementBytes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_ELEMENT_TYPE_H
