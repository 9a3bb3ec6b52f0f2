// Checksums of tensors in checkpoints and weights files.
#ifndef MTC_RUNTIME_IO_CHECKSUM_H
#define MTC_RUNTIME_IO_CHECKSUM_H

#include <array>
#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Incremental XXH64 with seed 0, from Yann Collet's specification of xxHash: a fast checksum that
/// detects corruption. The result does not depend on how the data is split.
class Checksum {
public:
  Checksum();

  void add(const void *piece, int64_t bytes);
  uint64_t value() const;

private:
  std::array<uint64_t, 4> lanes;
  uint64_t total = 0;
  std::array<unsigned char, 32> rest{}; ///< the last total % 32 bytes
};

inline constexpr size_t checksumDigits = 16;
/// Returns the checksum as `checksumDigits` hexadecimal digits.
std::string checksumText(uint64_t value);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_CHECKSUM_H
