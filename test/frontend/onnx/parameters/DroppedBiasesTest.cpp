//===- DroppedBiasesTest.cpp - Biases of zeros that an exporter dropped -----------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/SummarizeTraining.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace {

/// A node as onnxscript's rule rewrites it, exported from a call of the module.
NodeProto &addWithoutBias(ModelProto &proto, const char *op, const char *weight,
                          const std::string &call) {
  NodeProto &node = addModuleUse(proto, op, "layer", {"x", weight});
  setMetadata(node, "pkg.onnxscript.rewriter.rule_name",
              std::string("RemoveOptionalBiasFrom") + op);
  setCall(node, call + ", kwargs = {})");
  return node;
}

/// A layer has a weight and a bias, but the file contains only the weight.
ModelProto layerModel(std::initializer_list<int64_t> weight) {
  ModelProto proto = reluModel();
  setSignature(proto, "p_w: PARAMETER target='layer.weight'\np_b: PARAMETER target='layer.bias'\n");
  addInitializer(proto, "layer.weight", weight, 1, "PARAMETER");
  return proto;
}

constexpr const char *linear = "linear.default](args = (%x, %p_w, %p_b)";

/// Returns the restored bias's extents and its users.
std::vector<int64_t> biasOf(const ModelProto &proto) {
  Imported result(proto);
  if (!result.model)
    return {-1};
  const Initializer *bias = result.model->findInitializer("layer.bias");
  if (!bias)
    return {};
  for (const NodeProto &node : result.model->proto().graph().node())
    if (node.input_size() > 1)
      EXPECT_EQ(node.input(2), "layer.bias");
  for (char byte : llvm::cantFail(result.model->initializerBytes("layer.bias")))
    EXPECT_EQ(byte, 0);
  return bias->shape;
}

} // namespace

TEST(DroppedBiases, AreTrainedAndExported) {
  ModelProto proto = layerModel({3, 4});
  addWithoutBias(proto, "Gemm", "layer.weight", "addmm.default](args = (%p_b, %x, %p_w)");
  declare(*proto.mutable_graph()->add_output(), proto.graph().node(1).output(0));
  Chosen result(proto);
  EXPECT_EQ(result.classes["layer.bias"].role, InitializerRole::Parameter);
  mtc::TrainingSummary summary = summarizeTraining(result.graph(), result.classes);
  EXPECT_THAT(summary.missing, IsEmpty());
  EXPECT_THAT(summary.warnings(), IsEmpty());
  ModelProto exported = result.exported();
  EXPECT_THAT(exported.graph().node(1).input(), ElementsAre("x", "layer.weight", "layer.bias"));
  EXPECT_EQ(exported.graph().initializer_size(), 2);
}

TEST(DroppedBiases, HaveAnElementForEachChannel) {
  ModelProto gemm = layerModel({4, 3});
  setInteger(addWithoutBias(gemm, "Gemm", "layer.weight", linear), "transB", 1);
  EXPECT_THAT(biasOf(gemm), ElementsAre(4));
  ModelProto conv = layerModel({5, 2, 3, 3});
  addWithoutBias(conv, "Conv", "layer.weight", "conv2d.default](args = (%x, %p_w, %p_b, [1])");
  EXPECT_THAT(biasOf(conv), ElementsAre(5));
  ModelProto transposed = layerModel({4, 3, 3, 3});
  setInteger(addWithoutBias(transposed, "ConvTranspose", "layer.weight",
                            "conv_transpose2d.input](args = (%x, %p_w, %p_b, [2])"),
             "group", 2);
  EXPECT_THAT(biasOf(transposed), ElementsAre(6));
}

TEST(DroppedBiases, AreOneForAllCallsOfAModule) {
  ModelProto proto = layerModel({3, 3});
  addWithoutBias(proto, "Gemm", "layer.weight", linear);
  addWithoutBias(proto, "Gemm", "layer.weight", linear);
  EXPECT_THAT(biasOf(proto), ElementsAre(3));
}

TEST(DroppedBiases, StayDroppedWhereTheFileDoesNotTellTheirName) {
  ModelProto normalized = layerModel({3, 3});
  addWithoutBias(normalized, "Gemm", "layer.weight", "batch_norm.default](args = (%x, %p_w, %p_b)");
  EXPECT_THAT(biasOf(normalized), IsEmpty());
  ModelProto without = layerModel({3, 3});
  addWithoutBias(without, "Gemm", "layer.weight", "linear.default](args = (%x, %p_w)");
  EXPECT_THAT(biasOf(without), IsEmpty());
  ModelProto computed = layerModel({3, 3});
  addWithoutBias(computed, "Gemm", "x", linear);
  EXPECT_THAT(biasOf(computed), IsEmpty());
}

TEST(DroppedBiases, AreNoLargerThanTheirWeight) {
  ModelProto proto = layerModel({3, 3});
  proto.mutable_graph()->mutable_initializer(0)->set_dims(0, int64_t(1) << 60);
  setInteger(addWithoutBias(proto, "Gemm", "layer.weight", linear), "transB", 1);
  EXPECT_THAT(biasOf(proto), ElementsAre(-1)); // The weight is refused.
  ModelProto groups = layerModel({3, 3, 1});
  setInteger(addWithoutBias(groups, "ConvTranspose", "layer.weight",
                            "conv_transpose1d.default](args = (%x, %p_w, %p_b)"),
             "group", int64_t(1) << 62);
  EXPECT_THAT(biasOf(groups), IsEmpty());
}
