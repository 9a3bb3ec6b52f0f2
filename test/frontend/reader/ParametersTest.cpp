//===- ParametersTest.cpp - What initializers are taken for -----------------------------------===//

#include "TestModel.h"

#include "frontend/reader/Parameters.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

/// A model as PyTorch's newer exporter writes it, with these parameters in its signature.
ModelProto dynamoModel(std::initializer_list<const char *> parameters) {
  ModelProto proto = reluModel();
  std::string signature = "\n# inputs\n";
  for (std::string name : parameters)
    signature += "p_x: PARAMETER target='" + name + "'\n";
  auto *entry = proto.mutable_graph()->add_metadata_props();
  entry->set_key("pkg.torch.export.ExportedProgram.graph_signature");
  entry->set_value(signature);
  return proto;
}

TensorProto &add(ModelProto &proto, const std::string &name, std::initializer_list<int64_t> dims,
                 float value = 0, const char *kind = nullptr) {
  TensorProto &result = *proto.mutable_graph()->add_initializer() = tensor(name, dims);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  for (int64_t i = 0; i < count; ++i)
    result.add_float_data(value + float(i));
  if (kind) {
    auto &info = declare(*proto.mutable_graph()->add_value_info(), name);
    auto *entry = info.add_metadata_props();
    entry->set_key("pkg.torch.export.graph_signature.InputSpec.kind");
    entry->set_value(kind);
  }
  return result;
}

NodeProto &addUse(ModelProto &proto, const char *op, const char *module,
                  std::initializer_list<const char *> inputs) {
  static int count = 0;
  std::string output = "v" + std::to_string(++count);
  NodeProto &node = addNode(*proto.mutable_graph(), op, output, inputs, {output.c_str()});
  auto *entry = node.add_metadata_props();
  entry->set_key("pkg.torch.onnx.name_scopes");
  entry->set_value(std::string("['', '") + module + "', 'op']");
  return node;
}

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
  add(proto, "w", {2, 2});
  add(proto, "b", {2});
  add(proto, "eps", {});
  add(proto, "onnx::MatMul_7", {2, 2});
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
  add(proto, "a.weight", {2}, 0, "PARAMETER");
  add(proto, "buffer", {2, 2}, 0, "BUFFER");
  add(proto, "val_1", {2, 2});
  add(proto, "val_2", {2});
  add(proto, "unsqueeze_1", {1, 8});
  addUse(proto, "MatMul", "b", {"x", "val_1"});
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
    add(proto, name, {2});
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
  add(proto, "body.weight", {2, 2}, 0, "PARAMETER");
  add(proto, "body.bias", {2}, 0, "PARAMETER");
  add(proto, "val_3", {2, 2});
  add(proto, "buffer", {2}, 0, "BUFFER");
  addUse(proto, "MatMul", "head", {"x", "val_3"});
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
  add(proto, "w", {2, 2});
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

TEST(Parameters, FindsMergedOnes) {
  ModelProto proto = dynamoModel({"n1.weight", "n2.weight", "n3.weight", "own.weight"});
  add(proto, "n3.weight", {4}, 1, "PARAMETER");
  add(proto, "own.weight", {4}, 2, "PARAMETER");
  for (const char *module : {"n1", "n2", "n3"})
    addUse(proto, "LayerNormalization", module, {"x", "n3.weight"});
  addUse(proto, "LayerNormalization", "own", {"x", "own.weight"});
  Classified result(proto);
  std::vector<MergedInitializer> merged = findMergedInitializers(*result.model, result.classes);
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].name, "n3.weight");
  ASSERT_EQ(merged[0].uses.size(), 3u);
  EXPECT_EQ(merged[0].uses[0].parameter, "n1.weight");
  EXPECT_EQ(merged[0].uses[1].module, "n2");
  EXPECT_THAT(findMergedParameters(*result.model, result.classes),
              ElementsAre(HasSubstr("initializer 'n3.weight' stands for 3 parameters (n1.weight")));
}

TEST(Parameters, FindsTiedCopies) {
  ModelProto proto = reluModel();
  add(proto, "embedding", {3, 2}); // 0 1 / 2 3 / 4 5
  TensorProto &head = add(proto, "head", {2, 3});
  head.clear_float_data();
  for (float value : {0, 2, 4, 1, 3, 5})
    head.add_float_data(value);
  add(proto, "other", {3, 2}, 1);
  for (const char *name : {"zeros", "zeros too"}) {
    TensorProto &zeros = add(proto, name, {3, 2});
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
  add(proto, "conv.weight", {2, 1, 1, 1}, 0, "PARAMETER");
  add(proto, "conv.weight_bias", {2});
  Classified result(proto);
  EXPECT_EQ(result.role("conv.weight_bias"), parameter);
  EXPECT_THAT(findMergedParameters(*result.model, result.classes),
              ElementsAre(HasSubstr("left of a batch normalization")));
}
