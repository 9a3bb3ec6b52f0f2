//===- InitializeParameters.cpp - Random initialization of parameters -------------------------===//

#include "passes/OptionValues.h"
#include "passes/Passes.h"
#include "passes/program/Initialization.h"

namespace mtc {
#define GEN_PASS_DEF_INITIALIZEPARAMETERS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

std::optional<double> InitializationOptions::standardDeviation() const {
  StringRef text = init;
  if (!text.consume_front("normal:"))
    return std::nullopt;
  std::optional<double> deviation = parseNumber(text);
  return checkPositive(deviation).empty() ? deviation : std::nullopt;
}

namespace {

struct InitializeParametersPass
    : PassWithOptions<mtc::impl::InitializeParametersBase<InitializeParametersPass>,
                      InitializationOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<InitializationOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    std::optional<double> deviation = options->standardDeviation();
    if (!deviation)
      return;
    auto drawn = NormalAttr::get(&getContext(), Builder(&getContext()).getF64FloatAttr(*deviation));
    for (auto variable : getOperation().getOps<VariableOp>())
      if (auto source = dyn_cast<InitializerAttr>(variable.getInitial()))
        if (variable.getRole() == Role::Parameter || source.getMissing())
          variable.setInitialAttr(drawn);
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createInitializeParameters(const InitializationOptions &options) {
  return std::make_unique<InitializeParametersPass>(options);
}
