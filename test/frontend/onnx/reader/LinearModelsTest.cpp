//===- LinearModelsTest.cpp - Linear models become nodes with initializers --------------------===//

#include "test/frontend/onnx/TestModel.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Attributes {
  std::initializer_list<float> coefficients, intercepts;
  std::initializer_list<int64_t> labels = {};
  const char *transform = nullptr;
};

/// A model with one node of ai.onnx.ml.
ModelProto linearModel(const char *op, const Attributes &attributes,
                       std::initializer_list<const char *> outputs) {
  ModelProto proto = reluModel();
  auto &import = *proto.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(1);
  GraphProto &graph = *proto.mutable_graph();
  graph.clear_node();
  graph.clear_output();
  NodeProto &node = addNode(graph, op, "model", {"x"}, outputs);
  node.set_domain("ai.onnx.ml");
  auto add = [&](const char *name, ::onnx::AttributeProto::AttributeType type) -> auto & {
    auto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  };
  add("coefficients", ::onnx::AttributeProto::FLOATS)
      .mutable_floats()
      ->Add(attributes.coefficients.begin(), attributes.coefficients.end());
  if (attributes.intercepts.size() > 0)
    add("intercepts", ::onnx::AttributeProto::FLOATS)
        .mutable_floats()
        ->Add(attributes.intercepts.begin(), attributes.intercepts.end());
  if (attributes.labels.size() > 0)
    add("classlabels_ints", ::onnx::AttributeProto::INTS)
        .mutable_ints()
        ->Add(attributes.labels.begin(), attributes.labels.end());
  if (attributes.transform)
    add("post_transform", ::onnx::AttributeProto::STRING).set_s(attributes.transform);
  for (const char *output : outputs)
    if (*output)
      graph.add_output()->set_name(output);
  return proto;
}

struct Expanded {
  explicit Expanded(const ModelProto &proto) {
    mtc::Problems problems;
    model = Model::read(folder.write("model.onnx", proto.SerializeAsString()), problems);
    for (const std::string &problem : problems.get())
      messages += problem + "\n";
    if (!model)
      return;
    for (const NodeProto &node : model->proto().graph().node())
      operators.push_back(node.op_type());
    for (const Initializer &initializer : model->initializers())
      initializers.push_back(initializer.name);
  }

  std::vector<float> floats(const char *name) {
    const TensorProto *tensor = model->findTensor(name);
    return {tensor->float_data().begin(), tensor->float_data().end()};
  }
  std::vector<int64_t> shape(const char *name) { return model->findInitializer(name)->shape; }

  Folder folder;
  std::unique_ptr<Model> model;
  std::vector<std::string> operators, initializers;
  std::string messages;
};

} // namespace

TEST(LinearModels, WritesARegressorAsAProduct) {
  Expanded found(linearModel("LinearRegressor", {{1, 2, 3}, {4}}, {"y"}));
  EXPECT_EQ(found.messages, "");
  EXPECT_THAT(found.operators, ElementsAre("Cast", "Gemm"));
  EXPECT_THAT(found.initializers, ElementsAre("model.coefficients", "model.intercepts"));
  EXPECT_THAT(found.shape("model.coefficients"), ElementsAre(1, 3));
  EXPECT_EQ(found.model->proto().graph().node(1).output(0), "y");

  Expanded without(linearModel("LinearRegressor", {{1, 2, 3}, {}}, {"y"}));
  EXPECT_THAT(without.operators, ElementsAre("Cast", "Transpose", "MatMul"));
  EXPECT_THAT(without.initializers, ElementsAre("model.coefficients"));
}

TEST(LinearModels, WritesAClassifierWithItsLabels) {
  Attributes three{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3}, {5, 6, 7}, "SOFTMAX"};
  Expanded found(linearModel("LinearClassifier", three, {"label", "p"}));
  EXPECT_THAT(found.operators, ElementsAre("Cast", "Gemm", "Softmax", "ArgMax", "Gather"));
  EXPECT_THAT(found.initializers,
              ElementsAre("model.coefficients", "model.intercepts", "model.classes"));
  EXPECT_THAT(found.shape("model.coefficients"), ElementsAre(3, 3));
  EXPECT_THAT(Expanded(linearModel("LinearClassifier", three, {"", "p"})).operators,
              ElementsAre("Cast", "Gemm", "Softmax"));
}

/// If two rows are negatives of each other, they are one weight, that of the second class.
TEST(LinearModels, TiesOppositeRows) {
  Attributes opposite{{-1, -2, -3, 1, 2, 3}, {-4, 4}, {0, 1}, "LOGISTIC"};
  Expanded found(linearModel("LinearClassifier", opposite, {"", "p"}));
  EXPECT_THAT(found.operators, ElementsAre("Cast", "Gemm", "Sigmoid", "Sub", "Concat"));
  EXPECT_THAT(found.floats("model.coefficients"), ElementsAre(1, 2, 3));
  EXPECT_THAT(found.floats("model.intercepts"), ElementsAre(4));

  Attributes other{{-1, -2, -3, 1, 2, 4}, {-4, 4}, {0, 1}, "LOGISTIC"};
  Expanded apart(linearModel("LinearClassifier", other, {"", "p"}));
  EXPECT_THAT(apart.operators, ElementsAre("Cast", "Gemm", "Sigmoid"));
  EXPECT_THAT(apart.shape("model.coefficients"), ElementsAre(2, 3));
}

TEST(LinearModels, AvoidsNamesOfTheFile) {
  ModelProto proto = linearModel("LinearRegressor", {{1, 2, 3}, {4}}, {"y"});
  *proto.mutable_graph()->add_initializer() = floats("model.coefficients", {1}, {5});
  EXPECT_THAT(Expanded(proto).initializers,
              ElementsAre("model.coefficients", "model.coefficients_1", "model.intercepts"));
}

TEST(LinearModels, RefusesAttributesThatDoNotFit) {
  auto messages = [](const char *op, const Attributes &attributes) {
    return Expanded(linearModel(op, attributes, {"y"})).messages;
  };
  EXPECT_THAT(messages("LinearClassifier", {{1, 2, 3, 4, 5}, {1, 2}, {0, 1}}),
              HasSubstr("node 'model' (ai.onnx.ml.LinearClassifier): has 5 coefficients for 2 "
                        "classes, expected a multiple"));
  EXPECT_THAT(messages("LinearClassifier", {{1, 2, 3, 4}, {1, 2}, {0, 1, 2}}),
              HasSubstr("has 3 class labels, expected 2"));
  EXPECT_THAT(messages("LinearRegressor", {{1, 2, 3}, {1, 2}}),
              HasSubstr("has 2 intercepts, expected 1"));
  EXPECT_THAT(messages("LinearRegressor", {{1, 2, 3}, {}, {}, "PROBIT"}),
              HasSubstr("post_transform 'PROBIT' is not supported, expected NONE, LOGISTIC or "
                        "SOFTMAX"));
}
