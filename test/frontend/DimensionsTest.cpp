//===- DimensionsTest.cpp - Expressions of symbolic dimensions --------------------------------===//

#include "frontend/Dimensions.h"

#include <gtest/gtest.h>

using namespace mtc;

namespace {

std::optional<int64_t> evaluate(const char *text) {
  llvm::StringMap<int64_t> bindings;
  bindings["n"] = 7;
  bindings["batch"] = 4;
  bindings["huge"] = INT64_MAX;
  bindings["batch-size"] = 3;
  bindings["a b"] = 11;
  return evaluateDimension(text, bindings);
}

} // namespace

TEST(Dimensions, EvaluatesWhatExportersWrite) {
  EXPECT_EQ(evaluate("n"), 7);
  EXPECT_EQ(evaluate("n*batch"), 28);
  EXPECT_EQ(evaluate("n + 1"), 8);
  EXPECT_EQ(evaluate("1 - n + 2*batch"), 2);
  EXPECT_EQ(evaluate("-n + 9"), 2);
  EXPECT_EQ(evaluate("Min(48, n)"), 7);
  EXPECT_EQ(evaluate("Max(1, n, batch)"), 7);
  EXPECT_EQ(evaluate("floor(n/2) + 1"), 4);
  EXPECT_EQ(evaluate("ceiling(n/2)"), 4);
  EXPECT_EQ(evaluate("n//2"), 3);
  EXPECT_EQ(evaluate("(-n)//2 + 9"), 5);
  EXPECT_EQ(evaluate("Mod(n, 4)"), 3);
  EXPECT_EQ(evaluate("n**2"), 49);
  EXPECT_EQ(evaluate("(n + 1)*(batch - 2)"), 16);
  EXPECT_EQ(evaluate("batch-size"), 3) << "a name, since sympy writes spaces around its operators";
  EXPECT_EQ(evaluate("a b"), 11) << "bound as a whole";
}

TEST(Dimensions, HasNoValueWhereThereIsNone) {
  for (const char *text : {"",
                           "m",
                           "n + m",
                           "n +",
                           "(n",
                           "n)",
                           "n/2",
                           "1 - n",
                           "n/0",
                           "n//0",
                           "Mod(n, 0)",
                           "huge*huge",
                           "huge + 1",
                           "huge**64",
                           "n**n**n**n**(-1)",
                           "Min()",
                           "unknown(n)",
                           "n n",
                           "99999999999999999999",
                           "Min(m, 1)",
                           "floor(n, 2)",
                           "\xff\xfe"})
    EXPECT_EQ(evaluate(text), std::nullopt) << text;
}

TEST(Dimensions, SurvivesDeepNesting) {
  std::string deep(100000, '(');
  EXPECT_EQ(evaluate((deep + "n").c_str()), std::nullopt);
  EXPECT_EQ(evaluate((std::string(100001, '-') + "n + 9").c_str()), 2);
}

TEST(Dimensions, ListsTheNamesToBind) {
  EXPECT_EQ(dimensionNames("Min(48, s)*b + s"), (llvm::SmallVector<std::string>{"s", "b"}));
  EXPECT_EQ(dimensionNames("no expression!"), (llvm::SmallVector<std::string>{"no expression!"}));
  EXPECT_TRUE(isDimensionName("batch-size"));
  EXPECT_FALSE(isDimensionName("batch + 1"));
}
