//===- OwnOptimizerTest.cpp - An optimizer that this test defines -----------------------------===//
//
// A record suffices to define an optimizer: options, groups, clipping, loss scaling, quantized
// state and kernels follow from it. docs/contributing/add-an-optimizer.md shows the optimizer.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/optimizer/OptimizerOptions.h"
#include "passes/pipelines/Pipelines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mtc;
using ::testing::HasSubstr;
using ::testing::Not;

/// s  = m s + (1 - m) |g|
/// p *= 1 - lr wd
/// p -= lr g / (s + 1e-8)
static void build(Update &update) {
  TensorBuilder &b = update.b;
  Value &mean = update.states[0];
  mean = update.mix(b.abs(update.gradient), mean, update.value("mean-decay"));
  Value step = b.div(update.gradient, b.add(mean, update.broadcast(1e-8)));
  update.decayParameter();
  update.descend(step, update.learningRate);
}

static constexpr OptimizerState states[] = {{.suffix = "mean", .isNonNegative = true}};
static constexpr Hyperparameter hyperparameters[] = {
    learningRate(1e-2), weightDecay(0.0), {"mean-decay", 0.9, "decay of the mean", 0.0, 1.0}};

namespace mtc {
void addMagnitudeOptimizers(std::vector<OptimizerKind> &optimizers) {
  optimizers.push_back({.name = "magnitude",
                        .help = "gradient over the mean of its magnitudes",
                        .states = states,
                        .hyperparameters = hyperparameters,
                        .usesStep = false,
                        .buildElementwise = build});
}
} // namespace mtc

namespace {

constexpr const char *program = R"(
mtc.variable parameter @w : tensor<80x80xf32> = #mtc.zeros
mtc.variable parameter @v : tensor<80x80xf32> = #mtc.zeros
mtc.variable parameter @b : tensor<80xf32> = #mtc.zeros
func.func @micro_step(%x: tensor<80x80xf32> {mtc.name = "x"}) -> (tensor<f32> {mtc.name = "mtc.loss"}) {
  %w = mtc.read @w : tensor<80x80xf32>
  %v = mtc.read @v : tensor<80x80xf32>
  %b = mtc.read @b : tensor<80xf32>
  %h = mtc.contract %x, %w batch [] x [] over [1] x [0] : tensor<80x80xf32>, tensor<80x80xf32> -> tensor<80x80xf32>
  %c = mtc.broadcast %b axes [0] : tensor<80xf32> -> tensor<80x80xf32>
  %a = mtc.add %h, %c : tensor<80x80xf32>
  %y = mtc.contract %a, %v batch [] x [] over [1] x [0] : tensor<80x80xf32>, tensor<80x80xf32> -> tensor<80x80xf32>
  %l = mtc.reduce add %y axes [0, 1] : tensor<80x80xf32> -> tensor<f32>
  return %l : tensor<f32>
}
)";

/// Returns the program's text after the optimizer and kernel formation.
std::string compile(const OptimizerOptions &options, const LossScalingOptions &scaling = {}) {
  const Registration registration(addMagnitudeOptimizers);
  DialectRegistry registry;
  registry.insert<MtcDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context);
  PassManager passes(&context);
  passes.addPass(createScaleLoss(scaling));
  passes.addPass(createAutodiff());
  passes.addPass(createOptimizer(options));
  passes.addPass(createQuantizeOptimizerState());
  buildSimplifyPipeline(passes);
  passes.addPass(createFuseUpdate());
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createFormKernels());
  functions.addPass(createFuseKernels());
  std::string text;
  if (succeeded(passes.run(*module)))
    llvm::raw_string_ostream(text) << *module;
  return text;
}

OptimizerOptions ownOptions() {
  OptimizerOptions options;
  options.optimizer = "magnitude";
  options.optimizerBits = 8;
  return options;
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

TEST(OwnOptimizer, QuantizesItsState) {
  std::string text = compile(ownOptions());
  EXPECT_THAT(text, HasSubstr("@w.mean.codes : tensor<6400xui8>"));
  EXPECT_THAT(text, HasSubstr("@w.mean.scales : tensor<25xf32>"));
  EXPECT_THAT(text, HasSubstr("@b.mean : tensor<80xf32>"));
  // One kernel per parameter computes all results of its update, after the gradient.
  EXPECT_EQ(count(text, "(tensor<6400xf32>, tensor<6400xui8>, tensor<25xf32>)"), 2U) << text;
}

TEST(OwnOptimizer, HasGroupsAndClipping) {
  OptimizerOptions options = ownOptions();
  options.clipNorm = 1.0;
  options.groups = {"match=v mean-decay=0.5 optimizer-bits=32", "match=b lr=0.5"};
  std::string text = compile(options);
  EXPECT_THAT(text, HasSubstr("@w.mean.codes"));
  EXPECT_THAT(text, Not(HasSubstr("@v.mean.codes")));
  EXPECT_THAT(text, HasSubstr("mtc.gradient_norm"));
  EXPECT_EQ(count(text, "(tensor<6400xf32>, tensor<6400xui8>, tensor<25xf32>)"), 1U) << text;
}

TEST(OwnOptimizer, IsSkippedWhereScaledGradientsOverflow) {
  std::string text = compile(ownOptions(), {.scale = "1024"});
  EXPECT_THAT(text, HasSubstr("@mtc.loss_scale"));
  // One kernel still computes all results of an update, and keeps all old values if the step is
  // skipped.
  EXPECT_THAT(text, HasSubstr("mtc.update_skipped"));
  EXPECT_EQ(count(text, "(tensor<6400xf32>, tensor<6400xui8>, tensor<25xf32>)"), 2U) << text;
}
