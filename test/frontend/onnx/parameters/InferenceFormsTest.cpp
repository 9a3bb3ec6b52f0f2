//===- InferenceFormsTest.cpp - Nodes that training steps compute in inference form -----------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/InferenceForms.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// Builds two BatchNormalization nodes, of which the first `training` are in training form.
void addNodes(ModelProto &proto, int training) {
  for (int i = 0; i < 2; ++i) {
    std::string n = std::to_string(i);
    for (const char *operand : {"scale", "bias", "mean", "variance"})
      addInitializer(proto, operand + n, {3});
    NodeProto &node =
        addNode(*proto.mutable_graph(), "BatchNormalization", "bn" + n, {"y"}, {("z" + n).c_str()});
    for (const char *operand : {"scale", "bias", "mean", "variance"})
      node.add_input(operand + n);
    auto &mode = *node.add_attribute();
    mode.set_name("training_mode");
    mode.set_type(::onnx::AttributeProto::INT);
    mode.set_i(i < training);
  }
}

std::string warningOf(const ModelProto &proto, const mtc::ParameterPatterns &patterns = {}) {
  Chosen chosen(proto, patterns);
  return batchNormWarning(chosen.graph(), chosen.classes);
}

} // namespace

TEST(InferenceForms, BatchNormsAreReportedWithTheRemedyOfTheirExporter) {
  ModelProto other = reluModel();
  addNodes(other, 1);
  EXPECT_THAT(warningOf(other),
              AllOf(HasSubstr("batch norm: 1 of 2 BatchNormalization nodes are in inference form"),
                    HasSubstr("--batch-norm train"), Not(HasSubstr("torch"))));
  other.set_producer_name("pytorch");
  EXPECT_THAT(warningOf(other), HasSubstr("TrainingMode.TRAINING"));
  ModelProto dynamo = dynamoModel({});
  dynamo.set_producer_name("pytorch");
  addNodes(dynamo, 0);
  EXPECT_THAT(warningOf(dynamo), AllOf(HasSubstr("2 of 2"), HasSubstr("dynamo=True"),
                                       Not(HasSubstr("TrainingMode.TRAINING"))));
}

TEST(InferenceForms, BatchNormsThatAreFrozenOrTrainAreMeant) {
  ModelProto proto = reluModel();
  EXPECT_EQ(warningOf(proto), "");
  addNodes(proto, 1);
  EXPECT_EQ(warningOf(proto, {.train = {"*0"}, .freeze = {}}), "");
  EXPECT_NE(warningOf(proto, {.train = {}, .freeze = {"*0"}}), "");
  ModelProto training = reluModel();
  addNodes(training, 2);
  EXPECT_EQ(warningOf(training), "");
}

TEST(InferenceForms, BatchNormModesNeedABatchNorm) {
  ModelProto proto = reluModel();
  EXPECT_THAT(unusedModeWarning(Chosen(proto).graph(), mtc::BatchNormMode::Train),
              HasSubstr("--batch-norm train: the model has no BatchNormalization nodes"));
  EXPECT_EQ(unusedModeWarning(Chosen(proto).graph(), mtc::BatchNormMode::AsExported), "");
  addNodes(proto, 1);
  EXPECT_EQ(unusedModeWarning(Chosen(proto).graph(), mtc::BatchNormMode::Train), "");
}

TEST(InferenceForms, DropoutOfPyTorchBeforeItsTrainingMode) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Dropout", "d", {"y"}, {"z"});
  proto.set_producer_name("pytorch");
  EXPECT_EQ(dropoutWarning(Chosen(proto).graph()), "");
  proto.mutable_opset_import(0)->set_version(11);
  EXPECT_THAT(dropoutWarning(Chosen(proto).graph()),
              AllOf(HasSubstr("dropout: 1 Dropout node is"), HasSubstr("opset_version=12")));
  proto.set_producer_name("another");
  EXPECT_EQ(dropoutWarning(Chosen(proto).graph()), "");
}
