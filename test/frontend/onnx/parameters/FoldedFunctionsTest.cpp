//===- FoldedFunctionsTest.cpp - Parameters in functions that an exporter folded --------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/parameters/SummarizeTraining.h"

#include <cmath>
#include <cstring>

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::IsEmpty;

namespace {

/// A model with an initializer that the exporter folded, used by a module.
ModelProto foldedModel(const char *name, const char *origins, std::initializer_list<float> values) {
  ModelProto proto = dynamoModel({"m.p", "n.p"});
  *proto.mutable_graph()->add_initializer() =
      floats(name, {static_cast<int64_t>(values.size())}, values);
  setOrigins(proto, name, origins);
  addModuleUse(proto, "Mul", "m", {"x", name});
  declare(*proto.mutable_graph()->add_output(), proto.graph().node(1).output(0));
  return proto;
}

struct Read {
  explicit Read(const ModelProto &proto)
      : model(Model::read(folder.write("model.onnx", proto.SerializeAsString()), problems)) {}

  std::vector<float> valuesOf(const char *name) {
    llvm::ArrayRef<char> bytes = llvm::cantFail(model->initializerBytes(name));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// Returns `Exp a -> b` for the nodes before the model's own.
  std::vector<std::string> added() {
    std::vector<std::string> result;
    for (const NodeProto &node : model->proto().graph().node()) {
      if (node.name() == "relu")
        break;
      result.push_back(node.op_type() + " " + node.input(0) + " -> " + node.output(0));
    }
    return result;
  }

  mtc::Problems problems;
  Folder folder;
  std::unique_ptr<Model> model;
};

} // namespace

TEST(FoldedFunctions, AreComputedFromTheModulesParameter) {
  Read read(foldedModel("exp", "['m.p']", {1.0f, 2.718281828f, 100.0f}));
  EXPECT_THAT(read.valuesOf("m.p"),
              ElementsAre(0.0f, FloatNear(1, 1e-6f), FloatNear(4.60517f, 1e-5f)));
  EXPECT_THAT(read.added(), ElementsAre("Exp m.p -> exp"));
  EXPECT_FALSE(read.model->hasInitializer("exp"));

  Read sigmoid(foldedModel("sigmoid_1", "['m.p', 'clone']", {0.5f, 0.75f, 0.25f}));
  EXPECT_THAT(sigmoid.valuesOf("m.p"),
              ElementsAre(0.0f, FloatNear(1.0986123f, 1e-6f), FloatNear(-1.0986123f, 1e-6f)));
  Read negated(foldedModel("neg", "['m.p']", {1, -2, 0}));
  EXPECT_THAT(negated.valuesOf("m.p"), ElementsAre(-1.0f, 2.0f, 0.0f));
}

TEST(FoldedFunctions, TellFromTheSignWhereTheNegationWas) {
  Read outside(foldedModel("neg", "['exp', 'm.p']", {-1, -1, -1}));
  EXPECT_THAT(outside.added(), ElementsAre("Exp m.p -> neg.1", "Neg neg.1 -> neg"));
  Read inside(foldedModel("exp", "['m.p', 'neg']", {1, 1, 2.718281828f}));
  EXPECT_THAT(inside.added(), ElementsAre("Neg m.p -> exp.1", "Exp exp.1 -> exp"));
  EXPECT_THAT(inside.valuesOf("m.p"), ElementsAre(0, 0, FloatNear(-1, 1e-6f)));
}

TEST(FoldedFunctions, AreTrainedAndExportedByTheParameter) {
  Chosen result(foldedModel("exp", "['m.p']", {1, 2, 3}));
  EXPECT_EQ(result.role("m.p"), InitializerRole::Parameter);
  EXPECT_THAT(summarizeTraining(result.graph(), result.classes).computed, IsEmpty());
  ModelProto exported = result.exported();
  EXPECT_EQ(exported.graph().initializer(0).name(), "m.p");
  EXPECT_EQ(exported.graph().node(0).op_type(), "Exp");
}

TEST(FoldedFunctions, HaveAParameterForEachModuleThatTheExporterMerged) {
  ModelProto proto = foldedModel("exp", "['m.p']", {1, 2, 3});
  addModuleUse(proto, "Mul", "n", {"x", "exp"});
  addModuleUse(proto, "Mul", "other", {"x", "exp"});
  Read read(proto);
  EXPECT_EQ(read.valuesOf("n.p"), read.valuesOf("m.p"));
  EXPECT_THAT(read.added(), ElementsAre("Exp m.p -> exp", "Exp n.p -> exp.1"));
  auto input = [&](int index) { return read.model->proto().graph().node(2 + index).input(1); };
  EXPECT_EQ(input(1), "exp");
  EXPECT_EQ(input(2), "exp.1");
  EXPECT_EQ(input(3), "exp");
}

TEST(FoldedFunctions, KeepTheLayoutThatTheExporterChanged) {
  ModelProto proto = foldedModel("unsqueeze_2", "['exp', 'm.p', 'neg', 'val_3']", {-1, -2, -3});
  Chosen result(proto);
  EXPECT_EQ(result.role("val_1"), InitializerRole::Parameter);
  EXPECT_THAT(summarizeTraining(result.graph(), result.classes).computed, IsEmpty());
  EXPECT_FALSE(result.model->hasInitializer("m.p"));
}

TEST(FoldedFunctions, StayFoldedWithoutAnInverse) {
  for (auto [name, origins] : {
           std::pair{"exp", "['clamp', 'm.p']"},        // an unknown function
           std::pair{"exp", "['exp_1', 'm.p']"},        // applied twice
           std::pair{"exp", "['expand_as', 'm.p']"},    // elements are repeated
           std::pair{"exp", "['m.p', 'n.p', 'neg']"},   // depends on two parameters
           std::pair{"exp", "['arange']"},              // depends on no parameter
           std::pair{"neg", "['m.p', 'tanh']"},         // the sign is lost
           std::pair{"sigmoid", "['m.p']"},             // the operand is 2, no parameter
           std::pair{"mul", "['m.p', 'val_1', 'exp']"}, // By what is not told.
       }) {
    Read read(foldedModel(name, origins, {1, 2, 3}));
    EXPECT_THAT(read.valuesOf(name), ElementsAre(1, 2, 3)) << origins;
    EXPECT_THAT(read.added(), IsEmpty()) << origins;
  }
  ModelProto given = foldedModel("exp", "['m.p']", {1, 2, 3});
  addDim(declare(*given.mutable_graph()->add_input(), "exp"), 3);
  EXPECT_THAT(Read(given).added(), IsEmpty());
}
