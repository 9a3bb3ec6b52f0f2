// The checksums are test vectors of RFC 3720, appendix B.4.
#include "runtime/io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

using mtc::runtime::crc32c;

namespace {

TEST(Crc32c, OfTheStandard) {
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

} // namespace
