//===- TrainingSummaryTest.cpp - Trained parameters, and possibly missing ones ----------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/SummarizeTraining.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

struct Summarized : Chosen {
  explicit Summarized(const ModelProto &proto, const mtc::ParameterPatterns &patterns = {})
      : Chosen(proto, patterns), summary(summarizeTraining(graph(), classes)) {}
  std::vector<std::string> constants() const {
    std::vector<std::string> names;
    names.reserve(summary.constants.size());
    for (const mtc::TrainableConstant &constant : summary.constants)
      names.push_back(constant.name + "=" + constant.moduleName);
    return names;
  }

  mtc::TrainingSummary summary;
};

TensorProto scalar(const char *name, float value) { return floats(name, {}, {value}); }

NodeProto &addConstant(ModelProto &proto, const TensorProto &tensor) {
  NodeProto &node =
      addNode(*proto.mutable_graph(), "Constant", tensor.name(), {}, {tensor.name().c_str()});
  auto &value = *node.add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  *value.mutable_t() = tensor;
  return node;
}

/// The file is the output of PyTorch's newer exporter for two norms with weights 1 + w, a class
/// token, a table of positions, a scale, and biases of zeros.
ModelProto foldedModel() {
  ModelProto proto = dynamoModel({"fc.weight", "fc.bias", "n1.weight", "n2.weight", "embed.token",
                                  "embed.positions.weight", "scale"});
  addInitializer(proto, "fc.weight", {3, 3}, 1, "PARAMETER");
  addInitializer(proto, "val_1", {3}, 1); // both norms'
  addInitializer(proto, "token", {1, 3}, 4);
  addInitializer(proto, "positions", {2, 3}, 7);
  addInitializer(proto, "frequencies", {3}, 2, "BUFFER");
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = scalar("eps", 1e-6f);
  *graph.add_initializer() = scalar("val_9", 14.285714f);
  *graph.add_initializer() = scalar("root", 0.35355338f);
  addModuleUse(proto, "Concat", "embed", {"token", "x"});
  addModuleUse(proto, "Add", "embed", {"x", "positions"});
  addModuleUse(proto, "Mul", "rope", {"x", "frequencies"});
  addModuleUse(proto, "MatMul", "fc", {"x", "fc.weight"});
  for (const char *module : {"n1", "n2"}) {
    addModuleUse(proto, "Add", module, {"x", "eps"});
    addModuleUse(proto, "Mul", module, {"x", "val_1"});
  }
  addNode(graph, "Mul", "attention", {"x", "root"}, {"a"});
  addNode(graph, "Mul", "logits", {"a", "val_9"}, {"l"});
  for (const NodeProto &node : graph.node())
    if (node.output(0) != "y")
      declare(*graph.add_output(), node.output(0));
  return proto;
}

} // namespace

TEST(TrainingSummary, FindsParametersThatTheExporterFolded) {
  Summarized result(foldedModel());
  EXPECT_THAT(result.constants(),
              ElementsAre("token=embed.token", "positions=embed.positions.weight",
                          "val_1=n1.weight", "val_0=n2.weight", "val_9=scale"));
  EXPECT_THAT(result.summary.missing, ElementsAre("fc.bias"));
  EXPECT_EQ(result.summary.text(),
            "1 of 1 parameter trained (9 of 9 elements), 5 constants look trainable");
  EXPECT_THAT(
      result.summary.warnings(),
      ElementsAre(HasSubstr("'token' [1, 3] (embed.token in the module), 'positions' [2, 3] "
                            "(embed.positions.weight in the module), 'val_1' [3] (n1.weight "
                            "in the module), 'val_0' [3] (n2.weight in the module) and 1 "
                            "more. "),
                  HasSubstr("module parameters missing in the file: fc.bias. ")));
}

TEST(TrainingSummary, FindsParametersThatAnOptimizerRenamed) {
  auto model = [](std::initializer_list<const char *> parameters) {
    ModelProto proto = moduleModel(parameters);
    GraphProto &graph = *proto.mutable_graph();
    for (const char *name : {"val_1", "_if_else_branch_val_0_2"}) {
      addInitializer(proto, name, {3, 2});
      std::string output = std::string(name) + "_y";
      addNode(graph, "MatMul", name, {"x", name}, {output.c_str()});
      declare(*graph.add_output(), output);
    }
    return proto;
  };
  Summarized result(model({"a.weight", "b.weight"}));
  EXPECT_THAT(result.summary.missing, IsEmpty());
  EXPECT_EQ(result.summary.trained, 2U);
  EXPECT_THAT(result.summary.notes(),
              ElementsAre(HasSubstr("since an optimizer dropped those of the module: 'val_1', "
                                    "'_if_else_branch_val_0_2'")));
  // It is unknown which of the three parameters is missing.
  EXPECT_THAT(Summarized(model({"a.weight", "b.weight", "c.weight"})).summary.missing,
              ElementsAre("a.weight", "b.weight", "c.weight"));
}

TEST(TrainingSummary, TrainsThemByTheirNames) {
  Summarized result(foldedModel(), {{"*.weight", "val_9"}, {}});
  EXPECT_TRUE(result.problems.empty());
  EXPECT_THAT(result.constants(), ElementsAre("token=embed.token"));
  EXPECT_EQ(result.classes["val_0"].role, InitializerRole::Parameter);
  EXPECT_EQ(result.classes["eps"].role, InitializerRole::Constant);
  EXPECT_EQ(result.summary.text(),
            "5 of 5 parameters trained (22 of 22 elements), 1 constant looks trainable");
}

TEST(TrainingSummary, KnowsTheGatesOfRecurrentLayers) {
  // The model has two layers. The exporter dropped the biases of the second one.
  ModelProto proto =
      dynamoModel({"l.weight_ih_l0", "l.weight_hh_l0", "l.bias_ih_l0", "l.bias_hh_l0",
                   "l.weight_ih_l1", "l.weight_hh_l1", "l.bias_ih_l1", "l.bias_hh_l1"});
  for (const char *name : {"val_1", "val_2"})
    addInitializer(proto, name, {1, 9, 3}, 1);
  for (const char *name : {"val_4", "val_5"})
    addInitializer(proto, name, {1, 9, 3}, 2);
  addInitializer(proto, "val_3", {1, 18}, 1);
  addInitializer(proto, "val_6", {1, 2, 3}, 1);
  addModuleUse(proto, "GRU", "l", {"x", "val_1", "val_2", "val_3", "", "val_6"});
  addModuleUse(proto, "GRU", "l", {"x", "val_4", "val_5", "", "", "val_6"});
  for (const NodeProto &node : proto.graph().node())
    if (node.output(0) != "y")
      declare(*proto.mutable_graph()->add_output(), node.output(0));
  Summarized result(proto);
  EXPECT_THAT(result.summary.missing, ElementsAre("l.bias_ih_l1", "l.bias_hh_l1"));
  EXPECT_EQ(result.classes["val_6"].role, InitializerRole::Constant);
}

TEST(TrainingSummary, CountsWhatIsFrozenAsAParameter) {
  Summarized result(foldedModel(), {{}, {"fc.*"}});
  EXPECT_THAT(result.summary.text(), HasSubstr("0 of 1 parameter trained (0 of 9 elements)"));
}

TEST(TrainingSummary, FollowsConstantsThroughWhatIsComputedOfThem) {
  ModelProto proto = reluModel();
  addConstant(proto, floats("w", {3}, {1, 2, 3}));
  addConstant(proto, scalar("one", 1));
  addConstant(proto, floats("mask", {3}, {0, -1e38f, 0}));
  addConstant(proto, floats("same", {3}, {2, 2, 2}));
  addConstant(proto, floats("bounds", {3}, {1, 2, 3}));
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Add", "shift", {"w", "one"}, {"shifted"});
  addNode(graph, "Unsqueeze", "row", {"shifted"}, {"row"});
  addNode(graph, "Mul", "scale", {"x", "row"}, {"s"});
  addNode(graph, "Add", "hide", {"s", "mask"}, {"h"});
  addNode(graph, "Mul", "double", {"h", "same"}, {"d"});
  addNode(graph, "Pow", "power", {"d", "bounds"}, {"p"});
  Summarized result(proto);
  EXPECT_THAT(result.constants(), ElementsAre("w="));
  EXPECT_EQ(result.model->initializers().size(), 0u);

  Summarized trained(proto, {{"w"}, {}});
  EXPECT_TRUE(trained.problems.empty());
  EXPECT_THAT(trained.constants(), IsEmpty());
  EXPECT_EQ(trained.classes["w"].role, InitializerRole::Parameter);
  EXPECT_EQ(trained.exported().graph().node_size(), proto.graph().node_size() - 1);
  // A full name trains any floating-point constant.
  Summarized named(proto, {{"mask"}, {}});
  EXPECT_TRUE(named.problems.empty());
  EXPECT_EQ(named.classes["mask"].role, InitializerRole::Parameter);
}

TEST(TrainingSummary, TakesNumbersOfTheOlderExporterForParameters) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = scalar("logit_scale", 2.6592600f);
  *graph.add_initializer() = scalar("half", 0.5f);
  addNode(graph, "Mul", "/Mul", {"x", "logit_scale"}, {"s"});
  addNode(graph, "Mul", "/Mul_1", {"s", "half"}, {"h"});
  EXPECT_THAT(Summarized(proto).constants(), ElementsAre("logit_scale="));
  proto.set_producer_name("tf2onnx");
  EXPECT_THAT(Summarized(proto).constants(), IsEmpty());
}

TEST(TrainingSummary, TakesNodesOfTheOlderExporterForLiteralsBesideParameters) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  addConstant(proto, floats("/rope/Constant_output_0", {3}, {1, 0.1f, 0.01f}));
  addNode(*proto.mutable_graph(), "Mul", "/rope/Mul", {"x", "/rope/Constant_output_0"}, {"r"});
  // The file is like that of a module that was frozen in TorchScript.
  EXPECT_THAT(Summarized(proto).constants(), ElementsAre("/rope/Constant_output_0=rope"));
  addInitializer(proto, "fc.weight", {3, 3}, 1);
  addNode(*proto.mutable_graph(), "MatMul", "/fc/MatMul", {"r", "fc.weight"}, {"f"});
  EXPECT_THAT(Summarized(proto).constants(), IsEmpty());
  proto.set_producer_name("keras");
  EXPECT_THAT(Summarized(proto).constants(), ElementsAre("/rope/Constant_output_0=rope"));
}

TEST(TrainingSummary, WarnsOfConvolutionsThatTheOlderExporterFolded) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  const auto convolve = [&](const char *node, const char *weight, const char *bias) {
    const std::string output = std::string(node) + " output";
    addNode(graph, "Conv", node, {"x", weight, bias}, {output.c_str()});
    declare(*graph.add_output(), output);
  };
  // The layer is followed by a batch normalization.
  addInitializer(proto, "onnx::Conv_1", {4, 1, 3}, 1);
  addInitializer(proto, "onnx::Conv_2", {4}, 1);
  convolve("/stem/Conv", "onnx::Conv_1", "onnx::Conv_2");
  // The layer scales its weight, with and without a bias.
  addInitializer(proto, "onnx::Conv_3", {4, 1, 3}, 2);
  addInitializer(proto, "scaled.bias", {4}, 2);
  convolve("/scaled/Conv", "onnx::Conv_3", "scaled.bias");
  addInitializer(proto, "onnx::Conv_4", {4, 1, 3}, 3);
  convolve("/scaled_too/Conv", "onnx::Conv_4", "");
  // Modules that change the layout of the weight of an inner layer, with and without a bias.
  addInitializer(proto, "onnx::Conv_5", {4, 1, 3}, 4);
  addInitializer(proto, "layers.0.mixer.conv1d.bias", {4}, 4);
  convolve("/layers.0/mixer/Conv", "onnx::Conv_5", "layers.0.mixer.conv1d.bias");
  addInitializer(proto, "onnx::Conv_6", {4, 1, 3}, 5);
  addInitializer(proto, "layers.1.mixer.D", {3}, 5);
  convolve("/layers.1/mixer/Conv", "onnx::Conv_6", "");
  addNode(graph, "Mul", "/layers.1/mixer/Mul", {"x", "layers.1.mixer.D"}, {"skip"});
  // The root module may do so too.
  addInitializer(proto, "onnx::Conv_7", {4, 1, 3}, 6);
  addInitializer(proto, "conv1d.bias", {4}, 6);
  convolve("/Conv", "onnx::Conv_7", "conv1d.bias");
  // No axis of extent 1 was added, so the module computes the weight, for example with a mask.
  addInitializer(proto, "onnx::Conv_8", {4, 2, 3}, 7);
  addInitializer(proto, "masked.conv.bias", {4}, 7);
  convolve("/masked/Conv", "onnx::Conv_8", "masked.conv.bias");
  const Summarized result(proto);
  EXPECT_THAT(result.summary.foldedConvolutions, ElementsAre("stem"));
  EXPECT_THAT(result.summary.computed,
              ElementsAre("'onnx::Conv_3' (scaled)", "'onnx::Conv_4' (scaled_too)",
                          "'onnx::Conv_8' (masked)"));
  EXPECT_THAT(
      result.summary.warnings(),
      ElementsAre(HasSubstr("batch normalizations: 'stem'. "),
                  HasSubstr("computed by the exporter from the module's parameters: 'onnx::Conv_3' "
                            "(scaled), ")));
}

TEST(TrainingSummary, WarnsOfConvolutionsThatAnOldVersionOfTheOlderExporterFolded) {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  GraphProto &graph = *proto.mutable_graph();
  addInitializer(proto, "497", {4, 2, 3}, 1);
  addInitializer(proto, "498", {4}, 1);
  addNode(graph, "Conv", "Conv_0", {"x", "497", "498"}, {"c"});
  declare(*graph.add_output(), "c");
  // Exporter versions that number every tensor do not fold.
  EXPECT_THAT(Summarized(proto).summary.foldedConvolutions, IsEmpty());
  addInitializer(proto, "fc.weight", {3, 3}, 1);
  EXPECT_THAT(Summarized(proto).summary.foldedConvolutions, ElementsAre("497"));
}

TEST(TrainingSummary, DoesNotMissWhatIsTied) {
  ModelProto proto = dynamoModel({"embed.weight", "head.weight"});
  addInitializer(proto, "head.weight", {40, 40}, 1, "PARAMETER");
  addModuleUse(proto, "Gather", "embed", {"head.weight", "x"});
  addModuleUse(proto, "MatMul", "head", {"x", "head.weight"});
  EXPECT_THAT(Summarized(proto).summary.missing, IsEmpty());
}

TEST(TrainingSummary, WarnsOfWhatWasComputedUnlessItsGradientIsTheParameters) {
  auto warnings = [](const char *name, const char *origins, std::initializer_list<float> values) {
    ModelProto proto = dynamoModel({"p.weight"});
    *proto.mutable_graph()->add_initializer() = floats(name, {3, 2}, values);
    setOrigins(proto, name, origins);
    addModuleUse(proto, "Add", "p", {"x", name});
    declare(*proto.mutable_graph()->add_output(), proto.graph().node(1).output(0));
    return Summarized(proto).summary.warnings();
  };
  std::initializer_list<float> different = {1, 2, 1, 3, 1, 4}, repeated = {1, 2, 1, 3, 1, 2};
  const char *positions = "['add', 'arange', 'p.weight', 'unsqueeze', 'val_3']";
  EXPECT_THAT(warnings("embedding_1", positions, different), IsEmpty());
  // The gradient of a row that is used twice is the sum of both gradients.
  EXPECT_THAT(warnings("embedding_1", positions, repeated),
              ElementsAre(HasSubstr(
                  "computed by the exporter from the module's parameters: 'embedding_1'")));
  EXPECT_THAT(warnings("embedding", "['mul', 'p.weight', 'arange']", different),
              ElementsAre(HasSubstr("'embedding' (p.weight)")));
  EXPECT_THAT(warnings("mul_1", "['p.weight', 'val_3']", different),
              ElementsAre(HasSubstr("'mul_1' (p.weight)")));
}

TEST(TrainingSummary, MissesAParameterWhoseNodeWasMergedWithAnother) {
  ModelProto proto = dynamoModel({"embed.first", "embed.second", "other.unused"});
  addInitializer(proto, "embed.first", {1, 3}, 0, "PARAMETER");
  std::string value = addModuleUse(proto, "Relu", "embed", {"embed.first"}).output(0);
  auto missing = [&](const char *arguments) {
    ModelProto copy = proto;
    NodeProto &concat = addModuleUse(copy, "Concat", "embed", {value.c_str(), value.c_str()});
    setCall(concat, std::string("cat.default](args = (") + arguments + ", 1), kwargs = {})");
    setInteger(concat, "axis", 0);
    declare(*copy.mutable_graph()->add_output(), concat.output(0));
    return Summarized(copy).summary.missing;
  };
  EXPECT_THAT(missing("[%relu, %relu_1]"), ElementsAre("embed.second"));
  EXPECT_THAT(missing("[%relu, %relu]"), IsEmpty());
}

TEST(TrainingSummary, CountsNoElementsOfConstantsThatAreTooLarge) {
  ModelProto proto = reluModel();
  for (int64_t extent : {int64_t{1} << 40, int64_t{-1}}) {
    const std::string name = "constant " + std::to_string(extent);
    addConstant(proto, tensor(name, {extent, extent}));
    addNode(*proto.mutable_graph(), "Add", "add " + name, {"x", name.c_str()},
            {("sum " + name).c_str()});
  }
  EXPECT_THAT(Summarized(proto).constants(), IsEmpty());
}

TEST(TrainingSummary, NotesWhatIsTakenForMovingStatistics) {
  ModelProto proto = reluModel();
  addInitializer(proto, "variance", {3});
  addInitializer(proto, "epsilon", {}, 1e-3f);
  addNode(*proto.mutable_graph(), "Add", "shift", {"variance", "epsilon"}, {"shifted"});
  addNode(*proto.mutable_graph(), "Sqrt", "root", {"shifted"}, {"deviation"});
  EXPECT_THAT(Summarized(proto).summary.notes(),
              ElementsAre(HasSubstr("assumed to be moving statistics of batch normalizations, not "
                                    "trained: 'variance'; use --train")));
}

TEST(TrainingSummary, CountsAsTrainedOnlyWhatAnOutputFollowsFrom) {
  ModelProto proto = reluModel();
  const size_t trained = Summarized(proto).summary.trained;
  addInitializer(proto, "of nothing", {3});
  addNode(*proto.mutable_graph(), "Relu", "dead", {"of nothing"}, {"unread"});
  Summarized result(proto);
  EXPECT_EQ(result.summary.trained, trained);
  EXPECT_EQ(result.summary.parameters, trained) << "the module does not train it either";
  EXPECT_THAT(result.summary.warnings(), IsEmpty());
  EXPECT_THAT(result.summary.notes(),
              Contains("no output depends on these parameters, not trained: "
                       "'of nothing'"));
}
