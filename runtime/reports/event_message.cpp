// Each field is a key, which combines its number and its wire type, and a payload.
#include "runtime/reports/event_message.h"

#include <bit>

namespace mtc::runtime {
namespace {

enum WireType : uint64_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// Appends an integer with seven bits in each byte, lowest first; the top bit marks all but the
/// last byte.
void appendVarint(std::string &to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

void appendKey(std::string &to, uint64_t field, WireType type) {
  appendVarint(to, field << 3 | type);
}

/// Appends a float or a double in little-endian order.
template <typename Number> void appendFixed(std::string &to, uint64_t field, Number number) {
  static_assert(std::endian::native == std::endian::little);
  appendKey(to, field, sizeof number == 8 ? Fixed64 : Fixed32);
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

/// Appends a string or an encoded message.
void appendBytes(std::string &to, uint64_t field, std::string_view bytes) {
  appendKey(to, field, Length);
  appendVarint(to, bytes.size());
  to += bytes;
}

} // namespace

void EventMessage::begin(double wallTime, int64_t step) {
  message.clear();
  summary.clear();
  appendFixed(message, /*wall_time*/ 1, wallTime);
  if (step) { // 0 is the default value of the field.
    appendKey(message, /*step*/ 2, Varint);
    appendVarint(message, static_cast<uint64_t>(step));
  }
}

void EventMessage::addFileVersion(std::string_view version) {
  appendBytes(message, /*file_version*/ 3, version);
}

void EventMessage::addSessionStart() {
  constexpr std::string_view start = "\x08\x01"; // field `status` with START
  appendBytes(message, /*session_log*/ 7, start);
}

void EventMessage::addScalar(std::string_view tag, float number) {
  value.clear();
  appendBytes(value, /*tag*/ 1, tag);
  appendFixed(value, /*simple_value*/ 2, number);
  appendBytes(summary, /*value*/ 1, value);
}

const std::string &EventMessage::finish() {
  if (!summary.empty())
    appendBytes(message, /*summary*/ 5, summary);
  return message;
}

} // namespace mtc::runtime
