//===- TiesTest.cpp - Weights with several copies in the file ---------------------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/InitializerUses.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

struct Tied : Chosen {
  explicit Tied(const ModelProto &proto, const TieTexts &ties = {}) : Chosen(proto, ties) {}

  /// Returns the remaining initializers, each with the initializers of the file that it represents.
  std::vector<std::string> weights() {
    std::vector<std::string> result;
    for (InitializerOp initializer : trainableInitializers(graph())) {
      std::string text = initializer.getName().str();
      if (auto images = initializer.getFileImagesAttr())
        for (auto image : images.getAsRange<mtc::TensorImageAttr>())
          text += (image.isWhole() ? " = " : " = transposed ") + image.getName().str();
      result.push_back(text);
    }
    return result;
  }
};

/// The matrix [3, 2] with the elements 1 to 6, and its transpose.
constexpr std::initializer_list<float> matrix = {1, 2, 3, 4, 5, 6}, transposed = {1, 3, 5, 2, 4, 6};

void add(ModelProto &proto, const char *name, std::initializer_list<int64_t> dims,
         std::initializer_list<float> values) {
  *proto.mutable_graph()->add_initializer() = floats(name, dims, values);
}

/// An embedding [3, 2] and an output layer with the weight `head`.
void addLanguageModel(ModelProto &proto, const char *embedding, const char *head) {
  addModuleUse(proto, "Gather", "embed", {embedding, "x"});
  addModuleUse(proto, "MatMul", "head", {"x", head});
}

/// Names nodes as the older exporter does.
ModelProto scopedModel() {
  ModelProto proto = reluModel();
  proto.set_producer_name("pytorch");
  return proto;
}

} // namespace

TEST(Ties, AreWhatWasFoldedFromOneParameter) {
  ModelProto proto = dynamoModel({"embed.weight", "head.weight"});
  add(proto, "head.weight", {3, 2}, matrix);
  add(proto, "val_0", {2, 3}, transposed);
  setOrigins(proto, "val_0", "['head.weight']");
  addLanguageModel(proto, "head.weight", "val_0");
  Tied result(proto);
  EXPECT_THAT(result.weights(), ElementsAre("head.weight = transposed val_0"));
  EXPECT_THAT(result.notes,
              ElementsAre(HasSubstr("'head.weight' and 'val_0' are one weight, one transposed")));
  EXPECT_THAT(result.warnings, IsEmpty());
  // Without ties, each weight is named after its layer.
  Tied apart(proto, {{}, {"val_0"}});
  EXPECT_THAT(apart.weights(), ElementsAre("head.weight", "val_0"));
  EXPECT_EQ(apart.moduleName("head.weight"), "embed.weight");
  EXPECT_EQ(apart.moduleName("val_0"), "head.weight");
}

TEST(Ties, AreALayerThatIsCalledTwice) {
  ModelProto proto = dynamoModel({"a.weight", "b.weight"});
  for (const char *name : {"val_0", "val_1", "val_2"}) {
    add(proto, name, {3, 2}, matrix);
    setOrigins(proto, name, name == std::string("val_2") ? "['b.weight']" : "['a.weight']");
    addModuleUse(proto, "MatMul", name == std::string("val_2") ? "b" : "a", {"x", name});
  }
  // b has equal initial values, but belongs to another layer.
  EXPECT_THAT(Tied(proto).weights(), ElementsAre("val_0 = val_1", "val_2"));
}

TEST(Ties, AreFoldedByAnOptimizerThatDropsMetadata) {
  ModelProto proto = dynamoModel({"embed.weight", "copy.weight"});
  add(proto, "embed.weight", {3, 2}, matrix);
  add(proto, "copy.weight", {2, 3}, transposed);
  add(proto, "val_7", {2, 3}, transposed);
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Gather", "gather", {"embed.weight", "x"}, {"e"});
  addNode(graph, "MatMul", "copy", {"x", "copy.weight"}, {"c"});
  addNode(graph, "MatMul", "head", {"x", "val_7"}, {"h"});
  Tied result(proto);
  EXPECT_THAT(result.weights(), ElementsAre("embed.weight = transposed val_7", "copy.weight"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("equal elements, used in different roles")));
  EXPECT_THAT(Tied(proto, {{}, {"val_7"}}).weights(),
              ElementsAre("embed.weight", "copy.weight", "val_7"));
}

TEST(Ties, AreEqualTensorsOfBranchesIfTheModuleHasFewerParameters) {
  auto model = [](std::initializer_list<const char *> parameters) {
    ModelProto proto = moduleModel(parameters);
    for (const char *name : {"val_0_2", "_if_then_branch_val_0_3"}) {
      add(proto, name, {3, 2}, matrix);
      std::string output = std::string(name) + "_y";
      addNode(*proto.mutable_graph(), "MatMul", name, {"x", name}, {output.c_str()});
    }
    return proto;
  };
  Tied result(model({"a.weight"}));
  EXPECT_THAT(result.weights(), ElementsAre("val_0_2 = _if_then_branch_val_0_3"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("the module has one parameter of these")));
  EXPECT_THAT(Tied(model({"a.weight", "b.weight"})).weights(),
              ElementsAre("val_0_2", "_if_then_branch_val_0_3"));
  EXPECT_THAT(Tied(model({"a.weight"}), {{}, {"val_0_2"}}).weights(),
              ElementsAre("val_0_2", "_if_then_branch_val_0_3"));
}

TEST(Ties, OfTheOlderExporterAreReadInDifferentRoles) {
  ModelProto proto = scopedModel();
  add(proto, "embed.weight", {3, 2}, matrix);
  add(proto, "onnx::MatMul_7", {2, 3}, transposed);
  addNode(*proto.mutable_graph(), "Gather", "/embed/Gather", {"embed.weight", "x"}, {"e"});
  addNode(*proto.mutable_graph(), "MatMul", "/head/MatMul", {"e", "onnx::MatMul_7"}, {"h"});
  EXPECT_THAT(Tied(proto).weights(), ElementsAre("embed.weight = transposed onnx::MatMul_7"));
}

TEST(Ties, OfTheOlderExporterAreReadByOneModule) {
  ModelProto proto = scopedModel();
  GraphProto &graph = *proto.mutable_graph();
  add(proto, "e.0.bias", {2}, {7, 8});
  for (const char *name : {"onnx::MatMul_1", "onnx::MatMul_2"})
    add(proto, name, {3, 2}, matrix);
  addNode(graph, "MatMul", "/e/e.0/MatMul", {"x", "onnx::MatMul_1"}, {"p"});
  addNode(graph, "Add", "/e/e.0/Add", {"p", "e.0.bias"}, {"q"});
  addNode(graph, "MatMul", "/e/e.0_1/MatMul", {"x", "onnx::MatMul_2"}, {"r"});
  addNode(graph, "Add", "/e/e.0_1/Add", {"r", "e.0.bias"}, {"s"});
  Tied result(proto);
  EXPECT_THAT(result.weights(), ElementsAre("e.0.bias", "onnx::MatMul_1 = onnx::MatMul_2"));
  EXPECT_EQ(result.moduleName("onnx::MatMul_1"), "e.0.weight");
}

TEST(Ties, AreNoCopiesOfALayer) {
  ModelProto proto = scopedModel();
  GraphProto &graph = *proto.mutable_graph();
  for (const char *module : {"0", "1"}) {
    std::string weight = std::string("onnx::MatMul_") + module,
                bias = std::string("layers.") + module + ".bias";
    std::string scope = std::string("/layers.") + module, sum = "s" + weight,
                product = "p" + weight;
    add(proto, weight.c_str(), {3, 2}, matrix);
    add(proto, bias.c_str(), {2}, {7, 8});
    addNode(graph, "MatMul", scope + "/MatMul", {"x", weight.c_str()}, {product.c_str()});
    addNode(graph, "Add", scope + "/Add", {product.c_str(), bias.c_str()}, {sum.c_str()});
  }
  Tied result(proto);
  EXPECT_THAT(result.weights(),
              ElementsAre("onnx::MatMul_0", "layers.0.bias", "onnx::MatMul_1", "layers.1.bias"));
  EXPECT_THAT(result.problems, IsEmpty());
}

TEST(Ties, AreEqualWeightsOfModulesThatDiffer) {
  ModelProto proto = scopedModel();
  GraphProto &graph = *proto.mutable_graph();
  for (const char *module : {"0", "1"}) {
    std::string weight = std::string("onnx::MatMul_") + module,
                bias = std::string("layers.") + module + ".bias";
    std::string scope = std::string("/layers.") + module, sum = "s" + weight,
                product = "p" + weight;
    add(proto, weight.c_str(), {3, 2}, matrix);
    add(proto, bias.c_str(), {2}, {7, module[0] == '0' ? 8.0f : 9.0f});
    addNode(graph, "MatMul", scope + "/MatMul", {"x", weight.c_str()}, {product.c_str()});
    addNode(graph, "Add", scope + "/Add", {product.c_str(), bias.c_str()}, {sum.c_str()});
  }
  EXPECT_THAT(Tied(proto).weights(),
              ElementsAre("onnx::MatMul_0 = onnx::MatMul_1", "layers.0.bias", "layers.1.bias"));
}

TEST(Ties, AreAskedForWhereTheFileDoesNotTell) {
  ModelProto proto = reluModel();
  for (const char *name : {"7", "9"}) {
    add(proto, name, {3, 2}, matrix);
    addNode(*proto.mutable_graph(), "MatMul", name, {"x", name},
            {("out" + std::string(name)).c_str()});
  }
  Tied open(proto);
  EXPECT_THAT(open.problems,
              ElementsAre(HasSubstr("Use --tie 7=9 to train them as one weight, or --untie 9")));
  EXPECT_THAT(Tied(proto, {{"7=9"}, {}}).weights(), ElementsAre("7 = 9"));
  EXPECT_THAT(Tied(proto, {{}, {"9"}}).weights(), ElementsAre("7", "9"));
}

TEST(Ties, AreNotMadeOfTwoNames) {
  ModelProto proto = reluModel();
  add(proto, "embedding", {3, 2}, matrix);
  add(proto, "projection", {2, 3}, transposed);
  addLanguageModel(proto, "embedding", "projection");
  Tied result(proto);
  EXPECT_THAT(result.weights(), ElementsAre("embedding", "projection"));
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr("use --tie embedding=projection")));
}

TEST(Ties, OfAllEqualParametersIfAskedFor) {
  ModelProto proto = reluModel();
  add(proto, "embedding", {3, 2}, matrix);
  add(proto, "projection", {2, 3}, transposed);
  addLanguageModel(proto, "embedding", "projection");
  for (const char *layer : {"a", "b"}) {
    std::string weight = std::string(layer) + ".weight", bias = std::string(layer) + ".bias";
    add(proto, weight.c_str(), {2, 2}, {1, 2, 3, 4});
    add(proto, bias.c_str(), {2}, {0, 0});
    addModuleUse(proto, "MatMul", layer, {"x", weight.c_str()});
    addModuleUse(proto, "Add", layer, {"x", bias.c_str()});
  }
  // The layers may be copies of one layer.
  EXPECT_THAT(
      Tied(proto).notes,
      ElementsAre(AllOf(HasSubstr("1 parameter equals another one: 'b.weight' = 'a.weight'"),
                        HasSubstr("--tie equal"))));
  Tied equal(proto, {{"equal"}, {}});
  EXPECT_THAT(equal.weights(), ElementsAre("embedding = transposed projection",
                                           "a.weight = b.weight", "a.bias", "b.bias"));
  EXPECT_THAT(equal.warnings, IsEmpty());
  EXPECT_THAT(equal.notes,
              Contains(HasSubstr("--tie equal: trained as one weight each: 'embedding' "
                                 "= 'projection' (transposed), 'a.weight' = 'b.weight'; "
                                 "use --untie")));
  EXPECT_THAT(equal.notes, Contains(AllOf(HasSubstr("zeros, may be equal by chance: 'b.bias'"),
                                          HasSubstr("--tie A=B"))));
  EXPECT_THAT(Tied(proto, {{"equal"}, {"projection"}}).weights(),
              ElementsAre("embedding", "projection", "a.weight = b.weight", "a.bias", "b.bias"));
  EXPECT_THAT(
      Tied(proto, {{"equal"}, {"projection", "b.weight"}}).warnings,
      ElementsAre(HasSubstr("--tie equal: the file has no other parameters with equal values")));
}

TEST(Ties, OfOneValueAreMadeByName) {
  ModelProto proto = reluModel();
  add(proto, "a", {2, 3}, {0, 0, 0, 0, 0, 0});
  add(proto, "b", {3, 2}, {0, 0, 0, 0, 0, 0});
  add(proto, "c", {2, 3}, {1, 1, 1, 1, 1, 1});
  for (const char *name : {"a", "b", "c"})
    addModuleUse(proto, "MatMul", name, {"x", name});
  Tied zeros(proto, {{"a=b"}, {}});
  EXPECT_THAT(zeros.weights(), ElementsAre("a = transposed b", "c"));
  EXPECT_THAT(zeros.warnings, IsEmpty());
  EXPECT_THAT(Tied(proto, {{"a=c"}, {}}).warnings,
              ElementsAre(HasSubstr("the initial values differ")));
}

TEST(Ties, KeepTheNameOfTheModule) {
  ModelProto proto = scopedModel();
  for (const char *name : {"onnx::MatMul_1", "onnx::MatMul_2"}) {
    add(proto, name, {2, 3}, transposed);
    addNode(*proto.mutable_graph(), "MatMul", "/head/MatMul", {"x", name},
            {(std::string(name) + "y").c_str()});
  }
  add(proto, "embed.weight", {3, 2}, matrix);
  addNode(*proto.mutable_graph(), "Gather", "/embed/Gather", {"embed.weight", "x"}, {"e"});
  EXPECT_THAT(Tied(proto).weights(),
              ElementsAre("embed.weight = transposed onnx::MatMul_1 = transposed onnx::MatMul_2"));
}

TEST(Ties, AreFrozenByEitherName) {
  ModelProto proto = reluModel();
  add(proto, "a", {3, 2}, matrix);
  add(proto, "b", {3, 2}, matrix);
  for (const char *name : {"a", "b"})
    addModuleUse(proto, "MatMul", name, {"x", name});
  Chosen frozen(proto, mtc::ParameterChoices{{}, {"a=b"}, {}, {.train = {}, .freeze = {"b"}}});
  EXPECT_EQ(frozen.role("a"), InitializerRole::Frozen);
  EXPECT_THAT(frozen.problems, IsEmpty());
}

TEST(Ties, AreRefusedWhereTheyCannotBe) {
  ModelProto proto = reluModel();
  add(proto, "a", {3, 2}, matrix);
  add(proto, "b", {6}, {1, 2, 3, 4, 5, 7});
  for (const char *name : {"a", "b"})
    addModuleUse(proto, "MatMul", name, {"x", name});
  EXPECT_THAT(Tied(proto, {{"a=b"}, {}}).problems,
              ElementsAre(HasSubstr("shapes [3, 2] and [6] do not match")));
  EXPECT_THAT(Tied(proto, {{"a=c"}, {}}).problems,
              ElementsAre(HasSubstr("--tie a=c: no parameter 'c'")));
  EXPECT_THAT(Tied(proto, {{"a"}, {}}).problems, Contains(HasSubstr("expected A=B")));
  EXPECT_THAT(Tied(proto, {{}, {"d"}}).problems,
              ElementsAre(HasSubstr("--untie d: no parameter 'd'")));
}

TEST(Ties, AreTakenApartAtEachUse) {
  ModelProto proto = dynamoModel({"embed.weight", "head.weight"});
  add(proto, "head.weight", {3, 2}, matrix);
  addLanguageModel(proto, "head.weight", "head.weight");
  EXPECT_THAT(Tied(proto, {{}, {"head.weight"}}).weights(),
              ElementsAre("head.weight", "head.weight@head"));
}
