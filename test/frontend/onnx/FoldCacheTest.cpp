//===- FoldCacheTest.cpp - Values of folded nodes, by operator and operands -------------------===//

#include "frontend/onnx/inference/FoldCache.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace mlir;
using namespace mtc::onnx;

namespace {

/// Three layers that compute two values each. The first two layers have equal constants.
constexpr const char *layers = R"(
onnx.graph @layers() -> tensor<2048xf32> {
  %x1 = onnx.constant dense<1.0> : tensor<2048xf32> -> tensor<2048xf32>
  %a1 = onnx.node "Exp" version 13 (%x1) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  %b1 = onnx.node "Neg" version 13 (%a1) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  %x2 = onnx.constant dense<1.0> : tensor<2048xf32> -> tensor<2048xf32>
  %a2 = onnx.node "Exp" version 13 (%x2) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  %b2 = onnx.node "Neg" version 13 (%a2) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  %x3 = onnx.constant dense<2.0> : tensor<2048xf32> -> tensor<2048xf32>
  %a3 = onnx.node "Exp" version 13 (%x3) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  %b3 = onnx.node "Neg" version 13 (%a3) {} : (tensor<2048xf32>) -> tensor<2048xf32>
  onnx.return %b3 : tensor<2048xf32>
})";

TEST(FoldCache, EvaluatesEqualNodesOnce) {
  MLIRContext context;
  context.loadDialect<OnnxDialect>();
  const auto module = parseSourceString<ModuleOp>(layers, &context);
  ASSERT_TRUE(module);
  llvm::DenseMap<Value, Tensor> known;
  auto lookUp = [&](Value value) -> std::optional<Tensor> {
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return Tensor::fromAttribute(constant.getValue());
    return known.at(value);
  };
  FoldCache folds;
  std::vector<NodeOp> evaluated;
  std::vector<const char *> storage;
  (*module)->walk([&](NodeOp op) {
    Inference node(op, lookUp);
    ASSERT_TRUE(succeeded(node.result(0, node.type(0))));
    folds.fold(node, [&](Inference &each) {
      evaluated.push_back(each.op());
      std::vector<float> values(each.type(0).getNumElements());
      std::iota(values.begin(), values.end(), static_cast<float>(evaluated.size()));
      each.fold(0, Tensor::fromValues<float>(each.resultType(), values));
    });
    storage.push_back(node.folded(0)->bytes().data());
    known.insert({op.getOutputs().front(), *node.folded(0)});
  });
  ASSERT_EQ(storage.size(), 6U);
  EXPECT_EQ(evaluated.size(), 4U);
  EXPECT_EQ(storage[0], storage[2]);
  EXPECT_EQ(storage[1], storage[3]);
  EXPECT_NE(storage[0], storage[4]);
}

} // namespace
