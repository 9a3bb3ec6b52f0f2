// The encoding of protocol buffers: https://protobuf.dev/programming-guides/encoding.
#ifndef MTC_RUNTIME_IO_PROTOBUF_H
#define MTC_RUNTIME_IO_PROTOBUF_H

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime::protobuf {

enum WireType : uint64_t { Varint = 0, Fixed64 = 1, Length = 2, Fixed32 = 5 };

/// Appends an integer with seven bits in each byte, lowest first; the top bit marks all but the
/// last byte.
inline void appendVarint(std::string &to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

/// Appends the key of a field, which combines its number and the type of its payload.
inline void appendKey(std::string &to, uint64_t field, WireType type) {
  appendVarint(to, field << 3 | type);
}

/// Appends an integer.
inline void appendInteger(std::string &to, uint64_t field, uint64_t value) {
  appendKey(to, field, Varint);
  appendVarint(to, value);
}

/// Appends a float or a double in little-endian order.
template <typename Number> void appendFixed(std::string &to, uint64_t field, Number number) {
  static_assert(std::endian::native == std::endian::little);
  appendKey(to, field, sizeof number == 8 ? Fixed64 : Fixed32);
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

/// Appends the start of a string or an encoded message, whose `bytes` bytes follow.
inline void appendStart(std::string &to, uint64_t field, uint64_t bytes) {
  appendKey(to, field, Length);
  appendVarint(to, bytes);
}

/// Appends a string or an encoded message.
inline void appendBytes(std::string &to, uint64_t field, std::string_view bytes) {
  appendStart(to, field, bytes.size());
  to += bytes;
}

} // namespace mtc::runtime::protobuf

#endif // MTC_RUNTIME_IO_PROTOBUF_H
