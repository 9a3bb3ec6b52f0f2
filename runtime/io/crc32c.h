// The checksum of TensorFlow's record files.
#ifndef MTC_RUNTIME_IO_CRC32C_H
#define MTC_RUNTIME_IO_CRC32C_H

#include <cstdint>
#include <string_view>

namespace mtc::runtime {

/// Returns the CRC-32C (Castagnoli) of RFC 3720.
uint32_t crc32c(std::string_view bytes);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_CRC32C_H
