//===- SharedInitializersTest.cpp - One initializer for several parameters --------------------===//

#include "test/frontend/onnx/TestModel.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

/// A model after its initializers were split, and the file that a program would export.
struct Split : Chosen {
  explicit Split(const ModelProto &proto,
                 mtc::SharedInitializerPolicy policy = mtc::SharedInitializerPolicy::Auto)
      : Chosen(proto, {}, policy), file(exported()) {}

  /// Returns the operands of a node.
  std::vector<std::string> inputs(int node) const {
    const auto &list = file.graph().node(node).input();
    return {list.begin(), list.end()};
  }
  std::vector<std::string> initializers() const {
    std::vector<std::string> names;
    for (const TensorProto &initializer : file.graph().initializer())
      names.push_back(initializer.name());
    return names;
  }
  bool isParameter(const char *name) const {
    auto found = classes.find(name);
    return found != classes.end() && found->second.role == InitializerRole::Parameter;
  }

  ModelProto file;
};

} // namespace

TEST(SharedInitializers, AreSplitByTheParametersOfTheirUsers) {
  ModelProto proto = dynamoModel(
      {"n1.weight", "n1.bias", "n2.weight", "n2.bias", "fc.bias", "own.weight", "unused.weight"});
  addInitializer(proto, "n1.weight", {4}, 1, "PARAMETER");
  addInitializer(proto, "n1.bias", {4}, 0, "PARAMETER");
  addInitializer(proto, "own.weight", {4}, 2, "PARAMETER");
  for (const char *module : {"n1", "n2", "n2"}) // n2 is called twice
    addModuleUse(proto, "LayerNormalization", module, {"x", "n1.weight", "n1.bias"});
  addModuleUse(proto, "Add", "fc", {"x", "n1.bias"});
  addModuleUse(proto, "LayerNormalization", "own", {"x", "own.weight"});
  Split split(proto);
  // Node 0 is the Relu of every test model.
  EXPECT_THAT(split.inputs(1), ElementsAre("x", "n1.weight", "n1.bias"));
  EXPECT_THAT(split.inputs(2), ElementsAre("x", "n2.weight", "n2.bias"));
  EXPECT_THAT(split.inputs(3), ElementsAre("x", "n2.weight", "n2.bias"));
  EXPECT_THAT(split.inputs(4), ElementsAre("x", "fc.bias"));
  EXPECT_THAT(split.initializers(),
              ElementsAre("n1.weight", "n1.bias", "own.weight", "n2.weight", "n2.bias", "fc.bias"));
  for (const std::string &name : split.initializers())
    EXPECT_TRUE(split.isParameter(name.c_str())) << name;
  EXPECT_EQ(split.classes["fc.bias"].reason, "split from 'n1.bias', which the exporter merged");
  EXPECT_THAT(split.warnings, IsEmpty());
  EXPECT_THAT(split.notes,
              ElementsAre(HasSubstr("'n1.weight': merges 2 parameters (n1.weight, n2.weight)"),
                          HasSubstr("'n1.bias': merges 3 parameters (n1.bias, n2.bias, fc.bias) "
                                    "that were equal when exported; trained separately. Use "
                                    "--shared-initializers keep to train them as one weight")));
  EXPECT_EQ(split.file.graph().initializer(3).raw_data(), bytesOf<float>({1, 2, 3, 4}));
}

TEST(SharedInitializers, AreReadAgainAsTheyWereSplit) {
  ModelProto proto = dynamoModel({"n1.weight", "n2.weight"});
  addInitializer(proto, "n1.weight", {4}, 1, "PARAMETER");
  for (const char *module : {"n1", "n2"})
    addModuleUse(proto, "LayerNormalization", module, {"x", "n1.weight"});
  Split split(proto);
  Split again(split.file);
  EXPECT_THAT(again.initializers(), ElementsAre("n1.weight", "n2.weight"));
  EXPECT_TRUE(again.isParameter("n2.weight"));
  EXPECT_THAT(again.notes, IsEmpty());
}

TEST(SharedInitializers, StayOneIfTheUserSaysSo) {
  ModelProto proto = dynamoModel({"n1.weight", "n2.weight"});
  addInitializer(proto, "n1.weight", {4}, 1, "PARAMETER");
  for (const char *module : {"n1", "n2"})
    addModuleUse(proto, "LayerNormalization", module, {"x", "n1.weight"});
  Split split(proto, mtc::SharedInitializerPolicy::Keep);
  EXPECT_THAT(split.initializers(), ElementsAre("n1.weight"));
  EXPECT_THAT(split.inputs(2), ElementsAre("x", "n1.weight"));
}

TEST(SharedInitializers, MatricesOfDifferentValuesMayBeTied) {
  ModelProto proto = dynamoModel({"embed.weight", "head.weight", "a.weight", "b.weight"});
  addInitializer(proto, "head.weight", {2, 2}, 1, "PARAMETER");
  TensorProto &zeros = addInitializer(proto, "a.weight", {2, 2}, 0, "PARAMETER");
  for (float &value : *zeros.mutable_float_data())
    value = 0;
  addModuleUse(proto, "Gather", "embed", {"head.weight", "x"});
  addModuleUse(proto, "MatMul", "head", {"x", "head.weight"});
  addModuleUse(proto, "MatMul", "a", {"x", "a.weight"});
  addModuleUse(proto, "MatMul", "b", {"x", "a.weight"});
  Split split(proto);
  EXPECT_THAT(split.initializers(), ElementsAre("head.weight", "a.weight", "b.weight"));
  EXPECT_THAT(split.warnings,
              ElementsAre(HasSubstr("Use --shared-initializers split to train them separately")));
  Split all(proto, mtc::SharedInitializerPolicy::Split);
  EXPECT_THAT(all.initializers(),
              ElementsAre("head.weight", "a.weight", "embed.weight", "b.weight"));
  EXPECT_THAT(all.warnings, IsEmpty());
}

TEST(SharedInitializers, TransposedOnesAreNamedAsTheExporterWould) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  TensorProto &ones = addInitializer(proto, "val_1", {2, 2});
  for (float &value : *ones.mutable_float_data())
    value = 1;
  addNode(*proto.mutable_graph(), "Relu", "r", {"x"}, {"val_2"});
  addModuleUse(proto, "MatMul", "a", {"x", "val_1"});
  addModuleUse(proto, "MatMul", "b", {"x", "val_1"});
  Split split(proto);
  EXPECT_THAT(split.initializers(), ElementsAre("val_1", "val_0"));
  EXPECT_THAT(split.inputs(3), ElementsAre("x", "val_0"));
  EXPECT_EQ(split.classes["val_1"].moduleName, "a.weight");
  EXPECT_EQ(split.classes["val_0"].moduleName, "b.weight");
}

TEST(SharedInitializers, GoByTheModuleWhereTheOperandDoesNotTell) {
  ModelProto proto = dynamoModel({"a.gamma", "b.gamma", "c.first", "c.second", "d.inner.gamma"});
  addInitializer(proto, "a.gamma", {2}, 1, "PARAMETER");
  for (const char *module : {"a", "b", "c", "c", "d"})
    addModuleUse(proto, "Mul", module, {"x", "a.gamma"});
  Split split(proto);
  EXPECT_THAT(split.inputs(2), ElementsAre("x", "b.gamma"));
  EXPECT_THAT(split.inputs(3), ElementsAre("x", "a.gamma@c"));
  EXPECT_THAT(split.inputs(4), ElementsAre("x", "a.gamma@c"));
  EXPECT_THAT(split.inputs(5), ElementsAre("x", "a.gamma")) << "no parameter of that module";
}

TEST(SharedInitializers, GoByTheReadersOfNodesWithoutMetadata) {
  ModelProto proto = dynamoModel({"a.bias", "b.bias"});
  addInitializer(proto, "a.bias", {4}, 0, "PARAMETER");
  addModuleUse(proto, "Add", "a", {"x", "a.bias"});
  addNode(*proto.mutable_graph(), "Split", "split", {"a.bias"}, {"first", "second"});
  addModuleUse(proto, "Add", "b", {"x", "first"});
  addModuleUse(proto, "Add", "b", {"x", "second"});
  EXPECT_THAT(Split(proto).inputs(2), ElementsAre("b.bias"));
  addModuleUse(proto, "Add", "c", {"x", "second"});
  EXPECT_THAT(Split(proto).inputs(2), ElementsAre("a.bias"));
}

TEST(SharedInitializers, AreSplitWhereFunctionsAreCalled) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  addInitializer(proto, "a.weight", {2}, 1, "PARAMETER");
  auto &function = addFunction(proto, "F", {"u", "v"}, "w");
  NodeProto &inner = addNode(function, "Mul", "mul", {"u", "v"}, {"w"});
  auto *scopes = inner.add_metadata_props();
  scopes->set_key("pkg.torch.onnx.name_scopes");
  scopes->set_value("['', 'b', 'op']");
  addModuleUse(proto, "Mul", "a", {"x", "a.weight"});
  addModuleUse(proto, "F", "b", {"x", "a.weight"}).set_domain("local");
  Split split(proto);
  EXPECT_THAT(split.inputs(2), ElementsAre("x", "b.weight"));
}

TEST(SharedInitializers, OfTorchScriptReplaceIdentities) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  addInitializer(proto, "a.weight", {2, 2}, 1);
  addNode(graph, "Identity", "Identity_0", {"a.weight"}, {"b.weight"});
  addNode(graph, "Identity", "/c/Identity", {"a.weight"}, {"/c/Identity_output_0"});
  addNode(graph, "MatMul", "/a/MatMul", {"x", "a.weight"}, {"p"});
  addNode(graph, "MatMul", "/b/MatMul", {"p", "b.weight"}, {"q"});
  addNode(graph, "MatMul", "/c/MatMul", {"q", "/c/Identity_output_0"}, {"r"});
  Split split(proto);
  EXPECT_THAT(split.initializers(), ElementsAre("a.weight", "b.weight"));
  EXPECT_TRUE(split.isParameter("b.weight"));
  EXPECT_EQ(split.file.graph().node_size(), graph.node_size() - 1);
  EXPECT_THAT(split.inputs(3), ElementsAre("p", "b.weight"));
  proto.set_producer_name("another");
  EXPECT_THAT(Split(proto).initializers(), ElementsAre("a.weight"));
}

TEST(SharedInitializers, OfScriptedModulesAreFoldedTwice) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  addInitializer(proto, "20", {2, 2}, 1);
  addNode(graph, "Identity", "Identity_0", {"20"}, {"22"});
  addNode(graph, "MatMul", "/a/MatMul", {"x", "20"}, {"p"});
  addNode(graph, "MatMul", "/a_1/MatMul", {"p", "22"}, {"q"});
  Split split(proto);
  EXPECT_THAT(split.initializers(), ElementsAre("20"));
  EXPECT_EQ(split.moduleName("20"), "a.weight");
}

TEST(SharedInitializers, OfFoldedMatricesFollowTheOtherParametersOfTheirModules) {
  // The file has two linear layers with one matrix, whose transpose the exporter folded.
  const auto model = [](std::initializer_list<float> matrix, std::initializer_list<float> bias) {
    ModelProto proto = reluModel();
    proto.set_producer_name("pytorch");
    GraphProto &graph = *proto.mutable_graph();
    *graph.add_initializer() = floats("onnx::MatMul_7", {2, 2}, matrix);
    addNode(graph, "Identity", "Identity_0", {"onnx::MatMul_7"}, {"onnx::MatMul_8"});
    *graph.add_initializer() = floats("a.bias", {2}, bias);
    addNode(graph, "MatMul", "/a/MatMul", {"x", "onnx::MatMul_7"}, {"p"});
    addNode(graph, "Add", "/a/Add", {"p", "a.bias"}, {"q"});
    addNode(graph, "MatMul", "/b/MatMul", {"q", "onnx::MatMul_8"}, {"r"});
    addNode(graph, "Add", "/b/Add", {"r", "b.bias"}, {"s"});
    return proto;
  };
  // The matrices are tied, because the biases differ.
  ModelProto tied = model({1, 2, 3, 4}, {5, 6});
  *tied.mutable_graph()->add_initializer() = floats("b.bias", {2}, {7, 8});
  EXPECT_THAT(Split(tied).initializers(), ElementsAre("onnx::MatMul_7", "a.bias", "b.bias"));
  // The layers are copies of one layer, and the exporter merged their equal biases.
  ModelProto copies = model({1, 2, 3, 4}, {5, 6});
  addNode(*copies.mutable_graph(), "Identity", "Identity_1", {"a.bias"}, {"b.bias"});
  EXPECT_THAT(Split(copies).initializers(),
              ElementsAre("onnx::MatMul_7", "a.bias", "onnx::MatMul_8", "b.bias"));
  // Zero biases are no evidence of a tie. They remain one weight, with a warning, unless a flag
  // specifies otherwise.
  ModelProto open = model({1, 2, 3, 4}, {0, 0});
  addNode(*open.mutable_graph(), "Identity", "Identity_1", {"a.bias"}, {"b.bias"});
  EXPECT_THAT(Split(open).initializers(), ElementsAre("onnx::MatMul_7", "a.bias", "b.bias"));
  EXPECT_THAT(Split(open, mtc::SharedInitializerPolicy::Split).initializers(),
              ElementsAre("onnx::MatMul_7", "a.bias", "onnx::MatMul_8", "b.bias"));
}

TEST(SharedInitializers, OfComputedValuesHaveNoNameOfTheModule) {
  ModelProto proto = dynamoModel({"a.scale", "b.scale"});
  addInitializer(proto, "exp", {2}, 10);
  auto &info = *proto.mutable_graph()->add_value_info();
  info.set_name("exp");
  auto &entry = *info.add_metadata_props();
  entry.set_key("pkg.onnxscript.optimizer.folded_from");
  entry.set_value("['clamp', 'a.scale']");
  addModuleUse(proto, "Mul", "a", {"x", "exp"});
  addModuleUse(proto, "Mul", "b", {"x", "exp"});
  Split split(proto);
  EXPECT_THAT(split.initializers(), ElementsAre("exp", "exp@b"));
  EXPECT_TRUE(split.isParameter("exp@b"));
  EXPECT_EQ(split.moduleName("exp@b"), "b.scale") << "for --freeze";
}

TEST(SharedInitializers, HideNoMistakeOfTheFile) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  addInitializer(proto, "a.weight", {2, 2}, 1);
  for (const char *name : {"Identity_0", "Identity_1"})
    addNode(graph, "Identity", name, {"a.weight"}, {"b.weight"});
  Imported result(proto);
  EXPECT_TRUE(result.failed());
  EXPECT_THAT(result.messages(), HasSubstr("'b.weight'"));
}
