// Table of element types.
#include "runtime/support/element_type.h"

#include "runtime/support/integers.h"

#include <array>
#include <cassert>
#include <utility>

namespace mtc::runtime {
namespace {

struct TypeRecord {
  const char *name, *numpy;
  bool integer;
};

#define FLOAT(name, code, bytes, exponent, fraction, infinity, nan, text, ir, numpy, safetensors)  \
  TypeRecord{text, numpy, false},
#define INTEGER(name, code, bytes, text, ir, numpy, safetensors)                                   \
  TypeRecord{text, numpy, (code) != MTC_BOOL},
/// Indexed by MtcType.
constexpr std::array<TypeRecord, MTC_TYPE_COUNT> types = {{MTC_ELEMENT_TYPES(FLOAT, INTEGER)}};
#undef FLOAT
#undef INTEGER

const TypeRecord &record(uint32_t type) {
  assert(type < types.size() && "a type that the ABI does not have");
  return types[type];
}

} // namespace

int64_t typeBytes(uint32_t type) {
  assert(type < types.size() && "a type that the ABI does not have");
  return mtc_type_bytes(type);
}
const char *typeName(uint32_t type) { return record(type).name; }
const char *numpyTypeName(uint32_t type) { return record(type).numpy; }
std::string plainTypeName(uint32_t type) {
  const std::string_view name = record(type).numpy;
  return std::string(name.substr(name.find('.') + 1));
}
bool isInteger(uint32_t type) { return record(type).integer; }

bool isRepresentable(int64_t value, uint32_t type) {
  return withInteger(type, [&](auto example) { return std::in_range<decltype(example)>(value); });
}

std::optional<MtcType> typeOfName(std::string_view name) {
  for (size_t i = 0; i < types.size(); ++i)
    if (name == types[i].name)
      return static_cast<MtcType>(i);
  return std::nullopt;
}

std::string shapeText(const std::vector<int64_t> &dims) {
  std::string result = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    result += (i ? ", " : "") + std::to_string(dims[i]);
  return result + "]";
}

std::vector<int64_t> shapeOf(const MtcTensor &tensor) {
  return tensor.rank ? std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank)
                     : std::vector<int64_t>();
}

std::optional<int64_t> elementCount(const std::vector<int64_t> &dims, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, dim, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes / elementBytes;
}

} // namespace mtc::runtime
