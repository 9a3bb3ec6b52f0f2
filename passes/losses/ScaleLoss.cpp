//===- ScaleLoss.cpp - Dynamic loss scaling ---------------------------------------------------===//

#include "ir/Precision.h"
#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/OptionValues.h"
#include "passes/Passes.h"
#include "passes/losses/LossScaling.h"

#include "llvm/Support/FormatVariadic.h"

namespace mtc {
#define GEN_PASS_DEF_SCALELOSS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// Lower limit of the scale. If gradients overflow 16 bits even at this scale, the run has
/// diverged.
static constexpr float minScale = 0x1p-14F;

/// The initial scale of PyTorch's GradScaler.
static constexpr float defaultScale = 0x1p16F;

std::optional<float> LossScalingOptions::getScale() const {
  std::optional<double> number = parseNumber(scale);
  return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
}

std::string LossScalingOptions::checkScale() const {
  std::optional<float> number = getScale();
  bool isValid = number
                     ? LossScalingAttr::smallest <= *number && *number <= LossScalingAttr::largest
                     : scale.empty() || scale == "none";
  return isValid ? ""
                 : llvm::formatv("expected none, or a scale from {0} to {1}",
                                 spellNumber(LossScalingAttr::smallest),
                                 spellNumber(LossScalingAttr::largest))
                       .str();
}

namespace {

struct ScaleLossPass
    : PassWithOptions<mtc::impl::ScaleLossBase<ScaleLossPass>, LossScalingOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<LossScalingOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    std::optional<float> scale = options->scale.empty() ? chooseScale() : options->getScale();
    if (!scale)
      return;
    Builder b(&getContext());
    auto minimum = b.getF64FloatAttr(std::min(*scale, minScale));
    ProgramOp::findOrAdd(getOperation())
        .setLossScalingAttr(LossScalingAttr::get(&getContext(), options->getWindow(), minimum));
    addVariable(lossScaleName, b.getF32FloatAttr(*scale));
    addVariable(finiteUpdatesName, b.getI64IntegerAttr(0));
    addVariable(updateCountName, b.getI64IntegerAttr(0));
  }

private:
  /// Returns the default scale; nothing if the gradients have the range of f32.
  std::optional<float> chooseScale() {
    return needsLossScaling(TargetInfo::of(getOperation()).getPrecision())
               ? std::optional(defaultScale)
               : std::nullopt;
  }

  /// Adds a scalar variable, which checkpoints include, before the functions.
  void addVariable(StringRef name, TypedAttr initial) {
    SymbolTable symbols(getOperation());
    auto functions = getOperation().getOps<func::FuncOp>();
    Block::iterator end =
        functions.empty() ? getOperation().getBody()->end() : (*functions.begin())->getIterator();
    OpBuilder builder(&getContext());
    auto type = RankedTensorType::get({}, initial.getType());
    symbols.insert(VariableOp::create(builder, getOperation().getLoc(), Role::Optimizer, name, type,
                                      DenseElementsAttr::get(type, Attribute(initial))),
                   end);
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createScaleLoss(const LossScalingOptions &options) {
  return std::make_unique<ScaleLossPass>(options);
}
