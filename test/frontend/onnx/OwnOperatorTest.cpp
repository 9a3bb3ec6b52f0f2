//===- OwnOperatorTest.cpp - An operator that this test defines -------------------------------===//

#include "frontend/onnx/operators/Operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc;
using namespace mtc::onnx;

namespace {

/// ONNX defines the operator, and mtc does not support it.
constexpr const char *name = "StringConcat";

void addOwnOperators(Operators &operators) {
  operators.add(name, 20, {.convert = [](Conversion &) { return mlir::success(); }});
}

TEST(OwnOperator, IsKnownDuringItsRegistration) {
  EXPECT_EQ(Operators::get().find("", name, 20), nullptr);
  {
    const Registration registration(addOwnOperators);
    EXPECT_NE(Operators::get().find("", name, 20), nullptr);
    EXPECT_THAT(Operators::get().convertedNames(), testing::Contains(name));
    EXPECT_NE(Operators::get().find("", "Gelu", 20), nullptr);
  }
  EXPECT_EQ(Operators::get().find("", name, 20), nullptr);
}

} // namespace
