// Table of element types.
#include "runtime/support/element_type.h"

#include "runtime/support/integers.h"

#include <array>
#include <cassert>
#include <utility>

namespace mtc::runtime {
namespace {

struct TypeRecord {
  int64_t bytes;
  const char *name, *numpy;
  bool integer;
};

/// Indexed by MtcType.
constexpr std::array<TypeRecord, 15> types = {{
    {8, "f64", "np.float64", false},
    {4, "f32", "np.float32", false},
    {2, "bf16", "ml_dtypes.bfloat16", false},
    {2, "f16", "np.float16", false},
    {8, "i64", "np.int64", true},
    {4, "i32", "np.int32", true},
    {2, "i16", "np.int16", true},
    {1, "i8", "np.int8", true},
    {8, "u64", "np.uint64", true},
    {4, "u32", "np.uint32", true},
    {2, "u16", "np.uint16", true},
    {1, "u8", "np.uint8", true},
    {1, "bool", "np.bool_", false},
    {1, "f8E4M3", "ml_dtypes.float8_e4m3fn", false},
    {1, "f8E5M2", "ml_dtypes.float8_e5m2", false},
}};

const TypeRecord &record(uint32_t type) {
  assert(type < types.size() && "a type that the ABI does not have");
  return types[type];
}

} // namespace

int64_t typeBytes(uint32_t type) { return record(type).bytes; }
const char *typeName(uint32_t type) { return record(type).name; }
const char *numpyTypeName(uint32_t type) { return record(type).numpy; }
bool isInteger(uint32_t type) { return record(type).integer; }

bool isRepresentable(int64_t value, uint32_t type) {
  return withInteger(type, [&](auto example) { return std::in_range<decltype(example)>(value); });
}

std::optional<MtcType> integerTypeOfName(std::string_view name) {
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].integer && name == types[i].name)
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
