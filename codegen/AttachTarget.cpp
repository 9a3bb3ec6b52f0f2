//===- AttachTarget.cpp - Sets the module's target attribute ----------------------------------===//

#include "codegen/passes/Passes.h"
#include "codegen/target/Target.h"
#include "ir/interfaces/TargetInfo.h"

namespace mtc {
#define GEN_PASS_DEF_ATTACHTARGET
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

struct AttachTarget : mtc::impl::AttachTargetBase<AttachTarget> {
  using AttachTargetBase::AttachTargetBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    mtc::registerTargetDialects(registry);
  }

  void runOnOperation() override {
    mtc::TargetFlags flags;
    flags.target = target;
    flags.emulate = emulate;
    flags.precision = precision;
    flags.without.assign(without.begin(), without.end());
    flags.isStatic = isStatic;
    flags.cpu = processor;
    flags.threads = threads;
    flags.rates = rates;
    flags.tune = tune;
    llvm::Expected<mtc::TargetAttrInterface> parsed = mtc::Target::parse(getContext(), flags);
    if (!parsed) {
      getOperation()->emitError(llvm::toString(parsed.takeError()));
      return signalPassFailure();
    }
    getOperation()->setAttr(mtc::targetAttribute, *parsed);
  }
};

} // namespace
