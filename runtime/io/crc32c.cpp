// A table lookup for each byte is fast enough, because records are short.
#include "runtime/io/crc32c.h"

#include <array>

namespace mtc::runtime {

static constexpr std::array<uint32_t, 256> makeTable() {
  constexpr uint32_t polynomial = 0x82f63b78; // 0x1edc6f41, bits reversed
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit)
      rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
    table[byte] = rest;
  }
  return table;
}

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> table = makeTable();
  uint32_t sum = ~uint32_t{0};
  for (char byte : bytes)
    sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}

} // namespace mtc::runtime
