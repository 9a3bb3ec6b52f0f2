#include "support/files/safetensors.h"

#include <array>
#include <cassert>
#include <nlohmann/json.hpp>
#include <utility>

namespace mtc::files {

#define FLOAT(name, code, bytes, exponent, fraction, infinity, nan, text, ir, numpy, safetensors)  \
  safetensors,
#define INTEGER(name, code, bytes, text, ir, numpy, safetensors) safetensors,
/// Indexed by MtcType.
static constexpr std::array<const char *, MTC_TYPE_COUNT> typeNames = {
    MTC_ELEMENT_TYPES(FLOAT, INTEGER)};
#undef FLOAT
#undef INTEGER

const char *safetensorsTypeName(uint32_t type) {
  assert(type < typeNames.size() && "a type that the ABI does not have");
  return typeNames[type];
}

std::optional<MtcType> typeOfSafetensorsName(std::string_view name) {
  for (size_t i = 0; i < typeNames.size(); ++i)
    if (name == typeNames[i])
      return static_cast<MtcType>(i);
  return std::nullopt;
}

int64_t SafetensorsHeader::add(std::string name, uint32_t type, std::vector<int64_t> shape,
                               int64_t bytes) {
  const int64_t begin = std::exchange(end, end + bytes);
  tensors.push_back({std::move(name), type, std::move(shape), begin, end});
  return begin;
}

template <typename Json> std::string SafetensorsHeader::dump() const {
  Json header = Json::object();
  header["__metadata__"] = metadata;
  for (const Tensor &tensor : tensors)
    header[tensor.name] = {{"dtype", safetensorsTypeName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {tensor.begin, tensor.end}}};
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::string SafetensorsHeader::text() const { return dump<nlohmann::ordered_json>(); }
std::string SafetensorsHeader::sortedText() const { return dump<nlohmann::json>(); }

std::string SafetensorsHeader::startOfFile(std::string_view text) {
  std::string start(8, '\0');
  for (size_t i = 0; i < 8; ++i)
    start[i] = static_cast<char>(static_cast<uint64_t>(text.size()) >> (8 * i));
  return start.append(text);
}

} // namespace mtc::files
