//===- OutputSelectionTest.cpp - Required, selected and omitted outputs -----------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/dialect/OptionalOutputs.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

/// A model imported with `--output NAME`: the outputs of its graph (optional ones with `?`), and
/// the remarks.
struct Selected {
  explicit Selected(const ModelProto &proto, const std::string &named = "") {
    mlir::MLIRContext context;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      remarks.push_back(diagnostic.str());
      return mlir::success();
    });
    auto model = Model::read(folder.write("model.onnx", proto.SerializeAsString()), problems);
    EXPECT_TRUE(model && problems.empty());
    mtc::ImportOptions options;
    options.output = named;
    auto module = importModel(*model, context, options, problems);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
    auto graph = *module->getOps<GraphOp>().begin();
    for (unsigned i = 0; i < graph.getNumResults(); ++i) {
      auto name = graph.getResultAttrOfType<mlir::StringAttr>(i, "onnx.name");
      outputs.push_back(name.str() + (graph.getResultAttr(i, optionalAttribute) ? "?" : ""));
    }
    for (const std::string &problem : problems.get())
      messages += problem + "\n";
  }

  Folder folder;
  mtc::Problems problems;
  std::vector<std::string> outputs, remarks;
  std::string messages;
};

/// `y = Relu(x)`, and `name`, computed from it by `op`, as a second output without a type.
NodeProto &addOutput(ModelProto &proto, const char *op, const char *name) {
  proto.mutable_graph()->add_output()->set_name(name);
  return addNode(*proto.mutable_graph(), op, op, {"y"}, {name});
}

::onnx::TypeProto &typeOf(ModelProto &proto, int output) {
  return *proto.mutable_graph()->mutable_output(output)->mutable_type();
}

void addStrings(ModelProto &proto, const std::string &name) {
  TensorProto &strings = *proto.mutable_graph()->add_initializer() =
      tensor(name, {1}, TensorProto::STRING);
  strings.add_string_data("cat");
}

} // namespace

TEST(OutputSelection, RequiresWhatALossMayBeComputedFrom) {
  ModelProto proto = reluModel();
  addOutput(proto, "Abs", "untyped");
  addOutput(proto, "ArgMax", "label");
  typeOf(proto, 2).mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  EXPECT_THAT(Selected(proto).outputs, ElementsAre("y", "untyped", "label?"));
  EXPECT_THAT(Selected(proto, "untyped").outputs, ElementsAre("y?", "untyped", "label?"));

  ModelProto single = reluModel();
  single.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      TensorProto::INT64);
  single.mutable_graph()->mutable_node(0)->set_op_type("ArgMax");
  EXPECT_THAT(Selected(single).outputs, ElementsAre("y"));
}

TEST(OutputSelection, LeavesOutSequencesAndStrings) {
  ModelProto proto = reluModel();
  addOutput(proto, "SequenceConstruct", "sequence");
  typeOf(proto, 1).mutable_sequence_type()->mutable_elem_type();
  NodeProto &cast = addOutput(proto, "Cast", "text");
  typeOf(proto, 2).mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  auto *attribute = cast.add_attribute();
  attribute->set_name("to");
  attribute->set_type(::onnx::AttributeProto::INT);
  attribute->set_i(TensorProto::STRING);
  addStrings(proto, "classes");
  addNode(*proto.mutable_graph(), "ArgMax", "argmax", {"y"}, {"index"});
  addNode(*proto.mutable_graph(), "Gather", "gather", {"classes", "index"}, {"class"});
  addNode(*proto.mutable_graph(), "Identity", "identity", {"class"}, {"label"});
  proto.mutable_graph()->add_output()->set_name("label");
  typeOf(proto, 3).mutable_tensor_type()->set_elem_type(TensorProto::STRING);
  Selected selected(proto);
  EXPECT_EQ(selected.messages, "");
  EXPECT_THAT(selected.outputs, ElementsAre("y"));
  EXPECT_THAT(selected.remarks,
              ElementsAre(HasSubstr("the output 'sequence' is omitted: value 'sequence' is "
                                    "declared as a sequence"),
                          HasSubstr("the output 'text' is omitted: value 'text' is declared with "
                                    "elements of type STRING"),
                          HasSubstr("the output 'label' is omitted: initializer 'classes' has "
                                    "elements of type STRING, expected numbers or booleans")));
}

TEST(OutputSelection, ReportsProblemsOfRequiredOutputs) {
  ModelProto proto = reluModel();
  addOutput(proto, "SequenceConstruct", "sequence");
  typeOf(proto, 1).mutable_sequence_type()->mutable_elem_type();
  EXPECT_THAT(Selected(proto, "sequence").messages, HasSubstr("declared as a sequence"));

  ModelProto only = reluModel();
  only.mutable_graph()->clear_output();
  addOutput(only, "SequenceConstruct", "sequence");
  typeOf(only, 0).mutable_sequence_type()->mutable_elem_type();
  EXPECT_THAT(Selected(only).messages, HasSubstr("declared as a sequence"));

  ModelProto strings = reluModel();
  addStrings(strings, "classes");
  addNode(*strings.mutable_graph(), "Gather", "gather", {"classes", "y"}, {"z"});
  strings.mutable_graph()->add_output()->set_name("z");
  EXPECT_THAT(
      Selected(strings).messages,
      HasSubstr("node 'gather' (Gather): initializer 'classes' has elements of type STRING"));
}

/// A value of a subgraph may have the name of an outer value, which it hides.
TEST(OutputSelection, LooksForUnavailableValuesInSubgraphs) {
  ModelProto proto = reluModel();
  addStrings(proto, "classes");
  NodeProto &node = addNode(*proto.mutable_graph(), "If", "if", {"y"}, {"z"});
  addSubgraph(node, "then_branch", {}, {"classes"});
  GraphProto &other = addSubgraph(node, "else_branch", {}, {"classes"});
  *other.add_initializer() = floats("classes", {1}, {5});
  proto.mutable_graph()->add_output()->set_name("z");
  std::string reason = "output 'classes', in 'then_branch' of node 'if' (If): initializer "
                       "'classes' has elements of type STRING";
  EXPECT_THAT(Selected(proto).messages, HasSubstr(reason));
  Selected selected(proto, "y");
  EXPECT_EQ(selected.messages, "");
  EXPECT_THAT(selected.remarks, ElementsAre(HasSubstr("the output 'z' is omitted: " + reason)));
  *proto.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g() = other;
  EXPECT_EQ(Selected(proto).messages, "");
}

/// If a problem affects an optional and a required node, it is reported for the required one.
TEST(OutputSelection, ReportsADomainThatIsNotImported) {
  ModelProto proto = reluModel();
  addOutput(proto, "Mine", "label").set_domain("other");
  typeOf(proto, 1).mutable_tensor_type()->set_elem_type(TensorProto::INT64);
  EXPECT_EQ(Selected(proto).messages, "");
  addOutput(proto, "Mine", "z").set_domain("other");
  Selected selected(proto);
  EXPECT_THAT(selected.messages, HasSubstr("imports no opset of domain 'other'"));
  EXPECT_THAT(selected.remarks, ElementsAre(HasSubstr("the output 'label' is omitted")));
}

TEST(OutputSelection, AcceptsInnerValues) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Softmax", "softmax", {"y"}, {"probabilities"});
  proto.mutable_graph()->mutable_output(0)->set_name("probabilities");
  EXPECT_THAT(Selected(proto, "y").outputs, ElementsAre("probabilities?", "y"));
  EXPECT_THAT(Selected(proto, "probabilities").outputs, ElementsAre("probabilities"));
  addNode(*proto.mutable_graph(), "Exp", "exp", {"y"}, {"logits"});
  EXPECT_EQ(Selected(proto, "logist").messages,
            "--output 'logist': the graph has no value of this name; did you mean 'logits'?\n");
  EXPECT_EQ(
      Selected(proto, "nowhere").messages,
      "--output 'nowhere': the graph has no value of this name; the outputs are 'probabilities'\n");
  EXPECT_EQ(Selected(proto, "x").messages,
            "--output 'x': is an input, expected a value that a node computes; the outputs are "
            "'probabilities'\n");
}

TEST(OutputSelection, RefusesInnerValuesThatCannotBeOutputs) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Exp", "exp", {"y"}, {"mtc.loss"});
  EXPECT_THAT(
      Selected(proto, "mtc.loss").messages,
      HasSubstr(
          "--output 'mtc.loss': the value is a reserved name in programs; rename it in the model"));
}

/// A classifier's map from classes to probabilities is replaced by its tensor.
TEST(OutputSelection, TakesTheTensorOfAMap) {
  ModelProto proto = reluModel();
  auto &import = *proto.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(1);
  proto.mutable_graph()->clear_output();
  addOutput(proto, "ZipMap", "output_probability").set_domain("ai.onnx.ml");
  typeOf(proto, 0).mutable_sequence_type()->mutable_elem_type();
  for (const char *named : {"", "output_probability", "y"}) {
    Selected selected(proto, named);
    EXPECT_EQ(selected.messages, "");
    EXPECT_THAT(selected.outputs, ElementsAre("y"));
    EXPECT_THAT(selected.remarks, ElementsAre(HasSubstr("'output_probability' is omitted")));
  }
}
