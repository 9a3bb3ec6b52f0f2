//===- NestingTest.cpp - Nesting depth of brackets in a text ----------------------------------===//

#include "support/compiler/Nesting.h"

#include <gtest/gtest.h>

#include <string>

using namespace mtc::tool;

TEST(Nesting, CountsBracketsOfEachKind) {
  EXPECT_TRUE(nestsWithin("", 0));
  EXPECT_TRUE(nestsWithin("{[(<>)]}", 4));
  EXPECT_FALSE(nestsWithin("{[(<>)]}", 3));
  EXPECT_TRUE(nestsWithin("{}[]()<>{}[]()<>", 1));
}

TEST(Nesting, ArrowsCloseNothing) {
  EXPECT_TRUE(nestsWithin("<() -> ()> <() -> ()> <() -> ()>", 2));
  EXPECT_FALSE(nestsWithin("<() -> <() -> <()>>>", 3));
  EXPECT_TRUE(nestsWithin("-> -> ->", 0));
}

TEST(Nesting, PassesOverStringsAndComments) {
  EXPECT_TRUE(nestsWithin(R"("[[[" "\"[[[" [])", 1));
  EXPECT_TRUE(nestsWithin("// [[[ \"\n[]", 1));
  EXPECT_FALSE(nestsWithin("// \"\n[[", 1));
  EXPECT_FALSE(nestsWithin("\"\n[[", 1)); // The string ends with its line.
  EXPECT_TRUE(nestsWithin("\"\\", 0));
  EXPECT_TRUE(nestsWithin("//", 0));
}

TEST(Nesting, ReadsLongTextsOnce) {
  EXPECT_FALSE(nestsWithin(std::string(1 << 20, '['), 256));
  EXPECT_TRUE(nestsWithin(std::string(1 << 20, ']'), 0));
}
