//===- ParametersTest.cpp - What initializers are taken for -----------------------------------===//

#include "TestModel.h"

#include "frontend/reader/Parameters.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Classified {
  Classified(const ModelProto &proto, const ParameterPatterns &patterns = {}) {
    Problems unread;
    model = Model::read(folder.write("m.onnx", proto.SerializeAsString()), unread);
    EXPECT_TRUE(unread.empty());
    classes = classifyInitializers(*model, patterns, problems);
  }
  InitializerRole role(const char *name) { return classes.find(name)->second.role; }
  std::string moduleName(const char *name) { return classes.find(name)->second.moduleName; }

  Folder folder;
  std::unique_ptr<Model> model;
  Problems problems;
  llvm::StringMap<InitializerClass> classes;
};

constexpr auto parameter = InitializerRole::Parameter, constant = InitializerRole::Constant,
               state = InitializerRole::State;

} // namespace

TEST(Parameters, AreAllOfRankOneWithoutASignature) {
  ModelProto proto = reluModel();
  addInitializer(proto, "w", {2, 2});
  addInitializer(proto, "b", {2});
  addInitializer(proto, "eps", {});
  addInitializer(proto, "onnx::MatMul_7", {2, 2});
  addNode(*proto.mutable_graph(), "MatMul", "/head/MatMul", {"x", "onnx::MatMul_7"}, {"z"});
  *proto.mutable_graph()->add_initializer() = tensor("ids", {0}, TensorProto::INT64);
  Classified result(proto);
  EXPECT_EQ(result.role("w"), parameter);
  EXPECT_EQ(result.role("b"), parameter);
  EXPECT_EQ(result.role("eps"), constant);
  EXPECT_EQ(result.moduleName("onnx::MatMul_7"), "head.weight");
  EXPECT_FALSE(result.classes.contains("ids"));
}

TEST(Parameters, AreWhatTheSignatureSays) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  addInitializer(proto, "a.weight", {2}, 0, "PARAMETER");
  addInitializer(proto, "buffer", {2, 2}, 0, "BUFFER");
  addInitializer(proto, "val_1", {2, 2});
  addInitializer(proto, "val_2", {2});
  addInitializer(proto, "unsqueeze_1", {1, 8});
  addModuleUse(proto, "MatMul", "b", {"x", "val_1"});
  Classified result(proto);
  EXPECT_EQ(result.role("a.weight"), parameter);
  EXPECT_EQ(result.role("buffer"), constant);
  EXPECT_EQ(result.role("val_1"), parameter);
  EXPECT_EQ(result.moduleName("val_1"), "b.weight");
  EXPECT_EQ(result.role("val_2"), constant);
  EXPECT_EQ(result.role("unsqueeze_1"), constant);
}

TEST(Parameters, StatisticsAreStateThroughIdentitiesAndFunctions) {
  ModelProto proto = reluModel();
  for (const char *name : {"scale", "bias", "mean", "var"})
    addInitializer(proto, name, {2});
  auto &function = *proto.add_functions();
  function.set_domain("local");
  function.set_name("Norm");
  for (const char *name : {"x", "s", "b", "m", "v"})
    function.add_input(name);
  function.add_output("y");
  addNode(function, "BatchNormalization", "bn", {"x", "s", "b", "m", "v"}, {"y"});
  addNode(*proto.mutable_graph(), "Identity", "copy", {"mean"}, {"mean2"});
  addNode(*proto.mutable_graph(), "Norm", "call", {"x", "scale", "bias", "mean2", "var"}, {"z"})
      .set_domain("local");
  Classified result(proto);
  EXPECT_EQ(result.role("scale"), parameter);
  EXPECT_EQ(result.role("bias"), parameter);
  EXPECT_EQ(result.role("mean"), state);
  EXPECT_EQ(result.role("var"), state);
}

TEST(Parameters, FollowThePatterns) {
  ModelProto proto = dynamoModel({"body.weight", "head.weight"});
  addInitializer(proto, "body.weight", {2, 2}, 0, "PARAMETER");
  addInitializer(proto, "body.bias", {2}, 0, "PARAMETER");
  addInitializer(proto, "val_3", {2, 2});
  addInitializer(proto, "buffer", {2}, 0, "BUFFER");
  addModuleUse(proto, "MatMul", "head", {"x", "val_3"});
  Classified head(proto, {{"head.*"}, {"*"}});
  EXPECT_TRUE(head.problems.empty());
  EXPECT_EQ(head.role("body.weight"), constant);
  EXPECT_EQ(head.role("val_3"), parameter) << "by its name in the module";
  EXPECT_EQ(head.classes["body.bias"].reason, "--freeze *");
  Classified most(proto, {{"*"}, {"body.b*"}});
  EXPECT_EQ(most.role("body.weight"), parameter);
  EXPECT_EQ(most.role("body.bias"), constant);
  EXPECT_EQ(most.role("buffer"), parameter);
}

TEST(Parameters, RefusesPatternsThatDoNothing) {
  ModelProto proto = reluModel();
  addInitializer(proto, "w", {2, 2});
  *proto.mutable_graph()->add_initializer() = tensor("ids", {0}, TensorProto::INT64);
  Classified result(proto, {{"ids", "absent*"}, {"[", "nobody"}});
  std::string messages;
  for (const std::string &message : result.problems.get())
    messages += message + "\n";
  EXPECT_THAT(messages, HasSubstr("--train ids: it is no floating-point tensor"));
  EXPECT_THAT(messages, HasSubstr("--train absent*: no initializer matches"));
  EXPECT_THAT(messages, HasSubstr("--freeze nobody: no initializer matches"));
  EXPECT_THAT(messages, HasSubstr("--freeze [: "));
}

TEST(Parameters, FindsTiedCopies) {
  ModelProto proto = reluModel();
  addInitializer(proto, "embedding", {3, 2}); // 0 1 / 2 3 / 4 5
  TensorProto &head = addInitializer(proto, "head", {2, 3});
  head.clear_float_data();
  for (float value : {0, 2, 4, 1, 3, 5})
    head.add_float_data(value);
  addInitializer(proto, "other", {3, 2}, 1);
  for (const char *name : {"zeros", "zeros too"}) {
    TensorProto &zeros = addInitializer(proto, name, {3, 2});
    zeros.clear_float_data();
    for (int i = 0; i < 6; ++i)
      zeros.add_float_data(0);
  }
  Classified result(proto);
  std::vector<TiedCopy> tied = findTiedCopies(*result.model, result.classes);
  ASSERT_EQ(tied.size(), 1u);
  EXPECT_EQ(tied[0].first, "embedding");
  EXPECT_EQ(tied[0].second, "head");
  EXPECT_TRUE(tied[0].isTransposed);
}

TEST(Parameters, WarnsOfNormalizationsInConvolutions) {
  ModelProto proto = dynamoModel({"conv.weight"});
  addInitializer(proto, "conv.weight", {2, 1, 1, 1}, 0, "PARAMETER");
  addInitializer(proto, "conv.weight_bias", {2});
  Classified result(proto);
  EXPECT_EQ(result.role("conv.weight_bias"), parameter);
  EXPECT_THAT(parameterWarnings(*result.model, result.classes),
              ElementsAre(HasSubstr("left of a batch normalization")));
}
