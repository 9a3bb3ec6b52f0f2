// Tests that names from files are escaped on a terminal.
#include "runtime/support/messages.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

using namespace mtc::test;
using mtc::runtime::printable;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Messages, HoldNoControlCharacters) {
  EXPECT_EQ(printable("caf\u00e9 \u65e5\u672c \U0001f600\nline"),
            "caf\u00e9 \u65e5\u672c \U0001f600\nline");
  EXPECT_EQ(printable("a\x1b[2Jb\rc\x7f\td"), "a\\x1b[2Jb\\x0dc\\x7f\\x09d");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b"); // a control character of ISO 8859
  EXPECT_EQ(printable("\xff \xe2\x82"), "\\xff \\xe2\\x82");
  EXPECT_EQ(printable("\xe0\x80\x9b\xf0\x80\x80\x9b"),
            "\\xe0\\x80\\x9b\\xf0\\x80\\x80\\x9b"); // overlong encoding
  EXPECT_EQ(printable("\xed\xa0\x80\xf4\x90\x80\x80"), "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
}

TEST(Messages, EscapeNamesOfFilesAndTensors) {
  TemporaryFolder folder;
  writeSampleData(folder, 10);
  const std::string name = folder / "\x1b[31m.safetensors";
  writeFile(name, safetensorsBytes(
                      R"({"\u001b[2J":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", "1234"));
  const RunResult result = runHere(mtc_program, withData(folder, {"--weights", name}));
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.error, HasSubstr("\\x1b[31m.safetensors: tensor '\\x1b[2J'"));
  EXPECT_THAT(result.error, Not(HasSubstr("\x1b")));
}

} // namespace
