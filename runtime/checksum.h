// Checksums of tensors in checkpoints.
#ifndef MTC_RUNTIME_CHECKSUM_H
#define MTC_RUNTIME_CHECKSUM_H

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// XXH64 with seed 0, by Yann Collet's specification of the xxHash family: fast, and good at
/// noticing damage.
uint64_t checksum(const void *data, int64_t bytes);

/// 16 hexadecimal digits.
std::string checksumText(uint64_t value);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CHECKSUM_H
