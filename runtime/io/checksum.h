// Checksums of tensors in checkpoints.
#ifndef MTC_RUNTIME_IO_CHECKSUM_H
#define MTC_RUNTIME_IO_CHECKSUM_H

#include <array>
#include <cstdint>
#include <string>

namespace mtc::runtime {

/// XXH64 with seed 0, by Yann Collet's specification of the xxHash family: fast, and good at
/// noticing damage. Of pieces one after another, each a multiple of 32 bytes but for the last.
class Checksum {
public:
  Checksum();

  void add(const void *piece, int64_t bytes);
  uint64_t value() const;

private:
  std::array<uint64_t, 4> lanes;
  uint64_t total = 0;
  std::array<unsigned char, 32> rest; ///< the last total % 32 bytes
};

/// 16 hexadecimal digits.
std::string checksumText(uint64_t value);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_CHECKSUM_H
