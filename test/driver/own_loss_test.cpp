//===- own_loss_test.cpp - A loss that this test defines --------------------------------------===//
//
// docs/contributing/add-a-loss.md shows the loss.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/losses/ElementLoss.h"

#include "driver/Compilation.h"
#include "test/driver/example_model.h"

#include <gmock/gmock.h>

#include <numbers>

using namespace mlir;
using namespace mtc;

/// ln cosh(e) of the error e = x - y, as |e| + ln(1 + e^(-2 |e|)) - ln 2, which does not overflow.
/// The derivative is tanh(e), and 0 at the kink of |e|.
static LossTerms logCosh(TensorBuilder &b, const LossInputs &in) {
  Value error = b.abs(b.sub(in.output, in.labels));
  Value tail = b.log1p(b.exp(b.mul(error, b.splat(error, -2.0))));
  return {b.sub(b.add(error, tail), b.splat(error, std::numbers::ln2)), nullptr};
}

namespace mtc {
void addLogCoshLosses(std::vector<Loss> &losses) {
  losses.push_back(elementLoss("log-cosh", "mean of ln cosh of the error", logCosh));
}
} // namespace mtc

namespace {

TEST(OwnLoss, IsKnownDuringItsRegistration) {
  EXPECT_EQ(findLoss("log-cosh"), nullptr);
  {
    const Registration registration(addLogCoshLosses);
    EXPECT_THAT(lossChoices(), testing::Contains(testing::Field(&OptionChoice::name, "log-cosh")));

    tool::Options options;
    options.model = mtc::test::exampleModel;
    options.plan.dims["batch"] = 4;
    options.plan.dims["sequence"] = 64;
    options.plan.training.loss.loss = "log-cosh";
    tool::Compilation compilation(options);
    EXPECT_TRUE(succeeded(compilation.import()));
    EXPECT_TRUE(succeeded(compilation.lower(Stage::Training)));
  }
  EXPECT_EQ(findLoss("log-cosh"), nullptr);
}

} // namespace
