//===- KerasVariablesTest.cpp - Variables of Keras in files of PyTorch's exporter -------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/SummarizeTraining.h"

#include "llvm/ADT/StringExtras.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

/// Lists variables, and as many tensors as layers use.
ModelProto listingModel(const char *variables, int lifted) {
  ModelProto proto = reluModel();
  std::string signature = variables;
  for (int i = 0; i < lifted; ++i) {
    std::string name = "lifted_tensor_" + std::to_string(i);
    signature += "c_" + name + ": CONSTANT_TENSOR target='" + name + "'\n";
  }
  setSignature(proto, signature);
  return proto;
}

ModelProto kerasModel(int lifted) {
  return listingModel("p_k: PARAMETER target='_functional._torch_params.sequential/dense/kernel'\n"
                      "p_k2: PARAMETER target='_torch_params.sequential/dense/kernel'\n",
                      lifted);
}

/// Adds a node that uses a tensor which a layer calls `argument`. Its result is an output.
void addCall(ModelProto &proto, const char *op, const char *tensor, const std::string &argument) {
  NodeProto &node = addModuleUse(proto, op, "layer", {"y", tensor});
  setCall(node, "call.default](args = (%relu, %" + argument + "), kwargs = {})");
  declare(*proto.mutable_graph()->add_output(), node.output(0));
}

void addLayer(ModelProto &proto) {
  addInitializer(proto, "lifted_tensor_0", {3, 3}, 1, "CONSTANT_TENSOR");
  addCall(proto, "MatMul", "lifted_tensor_0", "c_lifted_tensor_0");
}

std::string warningsOf(Chosen &result) {
  return llvm::join(summarizeTraining(result.graph(), result.classes).warnings(), "\n");
}

} // namespace

TEST(KerasVariables, AreWhatLayersRead) {
  ModelProto proto = kerasModel(2);
  addLayer(proto);
  addInitializer(proto, "lifted_tensor_1", {}, 2, "CONSTANT_TENSOR");
  addCall(proto, "Mul", "lifted_tensor_1", "c_lifted_tensor_1");
  Chosen result(proto);
  EXPECT_EQ(result.role("lifted_tensor_0"), InitializerRole::Parameter);
  EXPECT_EQ(result.role("lifted_tensor_1"), InitializerRole::Constant);
  EXPECT_THAT(warningsOf(result), IsEmpty());

  ModelProto plain = listingModel("p_w: PARAMETER target='w'\n", 1);
  addLayer(plain);
  EXPECT_EQ(Chosen(plain).role("lifted_tensor_0"), InitializerRole::Constant);
}

TEST(KerasVariables, AreTrainedApartWhereTheyWereEqual) {
  ModelProto proto = kerasModel(3);
  addLayer(proto);
  addInitializer(proto, "lifted_tensor_1", {3}, 1, "CONSTANT_TENSOR");
  addCall(proto, "Add", "lifted_tensor_1", "c_lifted_tensor_1");
  addCall(proto, "Add", "lifted_tensor_1", "c_lifted_tensor_2");
  Chosen result(proto);
  EXPECT_THAT(result.problems, IsEmpty());
  ASSERT_TRUE(result.classes.contains("lifted_tensor_2"));
  EXPECT_EQ(result.role("lifted_tensor_1"), InitializerRole::Parameter);
  EXPECT_EQ(result.role("lifted_tensor_2"), InitializerRole::Parameter);
  EXPECT_THAT(warningsOf(result), IsEmpty());
}

TEST(KerasVariables, AreNoParametersWhereTheyAreStatistics) {
  ModelProto proto = kerasModel(4);
  addLayer(proto);
  addInitializer(proto, "lifted_tensor_1", {3}, 1, "CONSTANT_TENSOR");
  addCall(proto, "Sub", "lifted_tensor_1", "c_lifted_tensor_1");
  addInitializer(proto, "maximum", {3}, 2);
  setOrigins(proto, "maximum", "['lifted_tensor_2', 'sqrt']");
  addCall(proto, "Div", "maximum", "maximum");
  addInitializer(proto, "view", {3}, 3);
  setOrigins(proto, "view", "['lifted_tensor_3']");
  addCall(proto, "Sub", "view", "view");
  Chosen result(proto);
  for (const char *name : {"lifted_tensor_1", "maximum", "view"}) {
    EXPECT_EQ(result.role(name), InitializerRole::Constant) << name;
    EXPECT_EQ(result.classes.lookup(name).reason, movingStatisticReason) << name;
  }
  EXPECT_EQ(result.role("lifted_tensor_0"), InitializerRole::Parameter);

  ModelProto plain = dynamoModel({"mean"});
  addInitializer(plain, "mean", {3}, 1, "PARAMETER");
  addCall(plain, "Sub", "mean", "p_x");
  EXPECT_EQ(Chosen(plain).role("mean"), InitializerRole::Parameter);
}

TEST(KerasVariables, AreExportedByTheRemedyOfFoldedOnes) {
  ModelProto proto = kerasModel(3);
  addLayer(proto);
  addInitializer(proto, "mul", {3}, 1);
  setOrigins(proto, "mul", "['lifted_tensor_1', 'lifted_tensor_2', 'rsqrt']");
  addCall(proto, "Mul", "mul", "mul");
  Chosen result(proto);
  std::string warnings = warningsOf(result);
  EXPECT_THAT(warnings, HasSubstr("computed by the exporter from the module's parameters: 'mul'"));
  EXPECT_THAT(warnings, HasSubstr("export with mtc.export(model, ...)"));
  EXPECT_THAT(warnings, Not(HasSubstr("torch.onnx.export")));
}
