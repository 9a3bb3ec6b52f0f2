// Tests the depth of dotted keys in TOML texts.
#include "driver/TomlKeys.h"

#include "gtest/gtest.h"

#include <string>

using namespace mtc::tool;

namespace {

std::optional<int64_t> deepLine(const std::string &text) { return findDeepKey(text, 3); }

TEST(TomlKeys, FindsTheLineOfADeepKey) {
  EXPECT_EQ(deepLine("a.b.c = 1\n"), std::nullopt);
  EXPECT_EQ(deepLine("a = 1\n\na.b.c.d = 1\n"), 3);
  EXPECT_EQ(deepLine("[a.b.c]\n[a . b\t. c.d]\n"), 2);
  EXPECT_EQ(deepLine("a = { b.c = 1, d.e.f.g = 2 }"), 1);
  EXPECT_EQ(deepLine("\"a\".'b'.c.\"d\" = 1"), 1);
}

TEST(TomlKeys, CountsNoDotsOfStringsAndComments) {
  EXPECT_EQ(deepLine("a = \"1.2.3.4.5\" # 1.2.3.4.5\nb = '1.2.3.4'\n"), std::nullopt);
  EXPECT_EQ(deepLine("a = \"\\\"1.2.3.4\"\n"), std::nullopt);
  EXPECT_EQ(deepLine("a = \"\"\"1.2.3.4\n1.2.3.4\"\"\"\n"), std::nullopt);
  EXPECT_EQ(deepLine("a.b = 1\na.c = 2\na.d = 1.5"), std::nullopt);
}

TEST(TomlKeys, CountsLinesOfStrings) {
  EXPECT_EQ(deepLine("a = \"\"\"\n\\\n\n\"\"\"\na.b.c.d = 1"), 5);
  EXPECT_EQ(deepLine("a = '''\n'''\na.b.c.d = 1"), 3);
}

TEST(TomlKeys, SeesKeysAfterQuotesAtTheEndOfAString) {
  EXPECT_EQ(deepLine("x = { a = \"\"\"b\"\"\"\", a.b.c.d = 1 }"), 1);
  EXPECT_EQ(deepLine("x = { a = '''b''''', a.b.c.d = 1 }"), 1);
  EXPECT_EQ(deepLine("x = { a = \"\", a.b.c.d = 1 }"), 1);
}

TEST(TomlKeys, EndsUnterminatedStringsWithTheirLine) {
  EXPECT_EQ(deepLine("a = \"b\na.b.c.d = 1"), 2);
  EXPECT_EQ(deepLine("a = \"b\\"), std::nullopt);
  EXPECT_EQ(deepLine("a = \"\"\""), std::nullopt);
}

} // namespace
