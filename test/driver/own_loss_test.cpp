//===- own_loss_test.cpp - A loss that this test defines --------------------------------------===//

#include "passes/losses/Loss.h"

#include "driver/Compilation.h"
#include "test/driver/example_model.h"

#include <gmock/gmock.h>

using namespace mtc;
using namespace mtc::tool;

namespace {

/// The mean of the output; the labels have its shape and are not used.
void addOwnLosses(std::vector<Loss> &losses) {
  losses.push_back(
      {.name = "own",
       .help = "what only a test minimizes",
       .classifies = false,
       .layout = [](const LabelQuery &query, std::string &) -> mlir::FailureOr<LabelLayout> {
         return LabelLayout{llvm::to_vector(query.output.getShape())};
       },
       .build = [](TensorBuilder &, const LossInputs &inputs) -> LossTerms {
         return {inputs.output, nullptr};
       }});
}

TEST(OwnLoss, IsKnownDuringItsRegistration) {
  EXPECT_EQ(findLoss("own"), nullptr);
  {
    const Registration registration(addOwnLosses);
    EXPECT_THAT(lossChoices(), testing::Contains(testing::Field(&OptionChoice::name, "own")));

    Options options;
    options.model = mtc::test::exampleModel;
    options.plan.dims["batch"] = 4;
    options.plan.dims["sequence"] = 64;
    options.plan.training.loss.loss = "own";
    Compilation compilation(options);
    EXPECT_TRUE(succeeded(compilation.import()));
    EXPECT_TRUE(succeeded(compilation.lower(Stage::Training)));
  }
  EXPECT_EQ(findLoss("own"), nullptr);
}

} // namespace
