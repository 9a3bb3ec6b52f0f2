//===- GraphTest.cpp - Invalid graphs and functions -------------------------------------------===//

#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/reader/Functions.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Graph, NamesWhatIsNotDefined) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Add", "sum", {"y", "nowhere"}, {"z"});
  declare(*proto.mutable_graph()->add_output(), "absent");
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("node 'sum' (Add) reads 'nowhere', which is not a graph input"));
  EXPECT_THAT(messages, HasSubstr("graph output 'absent' is not defined"));
}

TEST(Graph, NamesWhatIsDefinedTwice) {
  ModelProto proto = reluModel();
  addNode(*proto.mutable_graph(), "Abs", "again", {"x"}, {"y"});
  addNode(*proto.mutable_graph(), "Abs", "input", {"x"}, {"x"});
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("node 'again' (Abs) defines 'y', which node 'relu' (Relu) "
                                  "already defines"));
  EXPECT_THAT(messages,
              HasSubstr("node 'input' (Abs) defines 'x', which is already a graph input"));
}

TEST(Graph, NamesInputsGivenTwice) {
  ModelProto proto = reluModel();
  declare(*proto.mutable_graph()->add_input(), "x");
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("graph input 'x' is defined twice"));
}

TEST(Graph, RefusesNamesThatFilesCannotHave) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = floats("__metadata__", {1}, {1});
  *graph.add_initializer() = floats(std::string("a\0b", 3), {1}, {1});
  *graph.add_initializer() = floats("a\xff", {1}, {1});
  addNode(graph, "Abs", "abs", {"x"}, {"y\xc3"});
  declare(*graph.add_output(), "y\xc3");
  declare(*graph.add_input(), std::string("x\0", 2));
  std::string messages = Imported(proto).messages();
  for (const char *expected :
       {"initializer '__metadata__' is the name of the metadata in safetensors files",
        "initializer 'a\\x00b' contains a NUL byte", "initializer 'a\\xff' is not valid UTF-8",
        "graph output 'y\\xc3' is not valid UTF-8", "graph input 'x\\x00' contains a NUL byte"})
    EXPECT_THAT(messages, HasSubstr(expected));
}

TEST(Graph, RefusesNamesOfAProgramsOwnParts) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = floats("micro_step", {1}, {1});
  *graph.add_initializer() = floats("kernel_12", {1}, {1});
  *graph.add_initializer() = floats("kernel_x", {1}, {1});
  addNode(graph, "Abs", "abs", {"x"}, {"mtc.row_loss"});
  declare(*graph.add_output(), "mtc.row_loss");
  std::string messages = Imported(proto).messages();
  for (const char *name :
       {"initializer 'micro_step'", "initializer 'kernel_12'", "graph output 'mtc.row_loss'"})
    EXPECT_THAT(messages, HasSubstr(std::string(name) + " is a reserved name in programs"));
  EXPECT_THAT(messages, testing::Not(HasSubstr("kernel_x")));
}

TEST(Graph, TakesAnOutputThatIsListedTwiceAsOne) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_output() = graph.output(0);
  Imported imported(proto);
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.graph().getFunctionType().getNumResults(), 1u);
}

TEST(Graph, NamesTheNodesOfACycle) {
  ModelProto cycle = reluModel();
  addNode(*cycle.mutable_graph(), "Abs", "after", {"b"}, {"c"});
  addNode(*cycle.mutable_graph(), "Add", "first", {"x", "b"}, {"a"});
  addNode(*cycle.mutable_graph(), "Neg", "second", {"a"}, {"b"});
  EXPECT_THAT(Imported(cycle).messages(),
              AllOf(HasSubstr("has a cycle"), HasSubstr("node 'first' (Add)"),
                    HasSubstr("node 'second' (Neg)"), testing::Not(HasSubstr("after"))));

  ModelProto itself = reluModel();
  addNode(*itself.mutable_graph(), "Add", "self", {"s", "x"}, {"s"});
  EXPECT_THAT(Imported(itself).messages(),
              HasSubstr("node 'self' (Add) reads from node 'self' (Add)"));

  ModelProto inside = reluModel();
  NodeProto &branch = addNode(*inside.mutable_graph(), "If", "branch", {"x"}, {"b"});
  addNode(*inside.mutable_graph(), "Neg", "reads", {"b"}, {"n"});
  GraphProto &body = addSubgraph(branch, "then_branch");
  addNode(body, "Abs", "inner", {"n"}, {"i"});
  declare(*body.add_output(), "i");
  EXPECT_THAT(Imported(inside).messages(),
              HasSubstr("the graph has a cycle: node 'branch' (If) reads from node 'reads' (Neg) "
                        "reads from node 'branch' (If)"));
}

TEST(Graph, SortsNodes) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  addNode(graph, "Abs", "early", {"late"}, {"e"});
  addNode(graph, "Add", "sum", {"e", "other"}, {"z"});
  addNode(graph, "Neg", "later", {"y"}, {"late"});
  addNode(graph, "Exp", "other", {"x"}, {"other"});
  declare(*graph.add_output(), "z");
  Imported imported(proto);
  EXPECT_EQ(imported.messages(), "");
  std::vector<std::string> operators;
  for (NodeOp node : imported.nodes())
    operators.push_back(node.getOpType().str());
  EXPECT_THAT(operators, testing::ElementsAre("Relu", "Neg", "Abs", "Exp", "Add"));
}

TEST(Graph, SortsNodesOfFunctions) {
  ModelProto proto = reluModel();
  auto &function = addFunction(proto, "f", {"a"}, "c");
  addNode(function, "Abs", "", {"b"}, {"c"});
  addNode(function, "Neg", "", {"a"}, {"b"});
  addNode(*proto.mutable_graph(), "f", "call", {"y"}, {"z"}).set_domain("local");
  declare(*proto.mutable_graph()->add_output(), "z");
  Imported imported(proto);
  EXPECT_EQ(imported.messages(), "");
  EXPECT_EQ(imported.nodes().back().getOpType(), "Abs");
}

/// A subgraph's use of an outer value is a use by its node.
TEST(Graph, SortsNodesWithSubgraphs) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  GraphProto &body = addSubgraph(addNode(graph, "If", "branch", {"x"}, {"b"}), "then_branch");
  addNode(body, "Abs", "second", {"first"}, {"s"});
  addNode(body, "Neg", "first", {"late"}, {"first"});
  declare(*body.add_output(), "s");
  addNode(graph, "Exp", "late", {"x"}, {"late"});
  mtc::Problems problems;
  Folder folder;
  auto model = Model::read(folder.write("model.onnx", proto.SerializeAsString()), problems);
  ASSERT_TRUE(problems.empty());
  const GraphProto &sorted = model->proto().graph();
  EXPECT_EQ(sorted.node(1).name(), "late");
  EXPECT_EQ(sorted.node(2).name(), "branch");
  EXPECT_EQ(sorted.node(2).attribute(0).g().node(0).name(), "first");
}

TEST(Graph, ChecksAttributes) {
  ModelProto proto = reluModel();
  NodeProto &node = *proto.mutable_graph()->mutable_node(0);
  for (const char *name : {"a", "a", ""}) {
    auto *attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(::onnx::AttributeProto::INT);
  }
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("node 'relu' (Relu) has two attributes 'a'"));
  EXPECT_THAT(messages, HasSubstr("has an attribute without a name"));
}

TEST(Graph, LooksIntoSubgraphs) {
  ModelProto proto = reluModel();
  auto *attribute = addNode(*proto.mutable_graph(), "If", "choice", {"x"}, {"z"}).add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  addNode(*attribute->mutable_g(), "Add", "inner", {"x", "missing"}, {"w"});
  EXPECT_THAT(Imported(proto).messages(),
              HasSubstr("node 'inner' (Add), in 'then_branch' of node 'choice' (If) reads "
                        "'missing'"));
}

TEST(Graph, NamesNodesWithoutOperator) {
  ModelProto proto = reluModel();
  proto.mutable_graph()->mutable_node(0)->set_op_type("");
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("node 'relu' () has no operator"));
}

TEST(Graph, NamesDomainsWithoutOpset) {
  ModelProto proto = reluModel();
  proto.mutable_graph()->mutable_node(0)->set_domain("com.example");
  EXPECT_THAT(Imported(proto).messages(),
              HasSubstr("node 'relu' (com.example.Relu): the model imports no opset of domain "
                        "'com.example'"));
}

namespace {

::onnx::FunctionProto &addFunction(ModelProto &model, const std::string &name) {
  ::onnx::FunctionProto &function = *model.add_functions();
  function.set_domain("local");
  function.set_name(name);
  function.add_input("in");
  function.add_output("out");
  function.add_opset_import()->set_version(17);
  return function;
}

template <typename Owner>
NodeProto &addCall(Owner &owner, const std::string &function, const std::string &name,
                   const char *input, const char *output) {
  NodeProto &node = addNode(owner, function, name, {input}, {output});
  node.set_domain("local");
  return node;
}

} // namespace

TEST(Functions, AreInlinedWithTheirAttributes) {
  ModelProto proto = reluModel();
  auto &function = addFunction(proto, "Scale");
  function.add_attribute("alpha");
  auto *byDefault = function.add_attribute_proto();
  byDefault->set_name("beta");
  byDefault->set_type(::onnx::AttributeProto::FLOAT);
  byDefault->set_f(0.25f);
  NodeProto &inner = addNode(function, "HardSigmoid", "hard", {"in"}, {"out"});
  for (const char *name : {"alpha", "beta", "gone"}) {
    auto *reference = inner.add_attribute();
    reference->set_name(name);
    reference->set_ref_attr_name(name);
    reference->set_type(::onnx::AttributeProto::FLOAT);
  }
  auto *alpha = addCall(*proto.mutable_graph(), "Scale", "call", "y", "z").add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(::onnx::AttributeProto::FLOAT);
  alpha->set_f(0.5f);
  *proto.mutable_graph()->mutable_output(0)->mutable_name() = "z";

  Imported result(proto);
  ASSERT_EQ(result.messages(), "");
  ASSERT_EQ(result.nodes().size(), 2u);
  NodeOp node = result.nodes()[1];
  EXPECT_EQ(node.getOpType(), "HardSigmoid");
  EXPECT_EQ(node.getVersion(), 17u) << "the function's own opset";
  EXPECT_EQ(llvm::cast<mlir::NameLoc>(node.getLoc()).getName(), "call/hard");
  auto value = [&](const char *name) {
    return llvm::cast<mlir::FloatAttr>(node.getNodeAttributes().get(name)).getValueAsDouble();
  };
  EXPECT_EQ(value("alpha"), 0.5);
  EXPECT_EQ(value("beta"), 0.25);
  EXPECT_FALSE(node.getNodeAttributes().get("gone"));
}

TEST(Functions, MayNotCallThemselves) {
  ModelProto proto = reluModel();
  addCall(addFunction(proto, "A"), "B", "toB", "in", "out");
  auto &b = addFunction(proto, "B");
  auto *attribute = addNode(b, "If", "choice", {"in"}, {"out"}).add_attribute();
  attribute->set_name("then_branch");
  addCall(*attribute->mutable_g(), "A", "toA", "in", "inner");
  addCall(*proto.mutable_graph(), "A", "call", "y", "z");
  EXPECT_THAT(Imported(proto).messages(),
              HasSubstr("function 'A' calls itself, through 'B'; ONNX functions may not be"));
}

TEST(Functions, MayNotCallThemselvesUnused) {
  ModelProto proto = reluModel();
  addCall(addFunction(proto, "Loop"), "Loop", "again", "in", "out");
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("function 'Loop' calls itself"));
}

TEST(Functions, AreRefusedTwiceAndBroken) {
  ModelProto proto = reluModel();
  addNode(addFunction(proto, "F"), "Abs", "inner", {"nothing"}, {"out"});
  addNode(addFunction(proto, "F"), "Abs", "inner", {"in"}, {"other"});
  std::string messages = Imported(proto).messages();
  EXPECT_THAT(messages, HasSubstr("function 'F' of domain 'local' is defined twice"));
  EXPECT_THAT(messages, HasSubstr("node 'inner' (Abs), in function 'F' reads 'nothing'"));
  EXPECT_THAT(messages, HasSubstr("graph output 'out', in function 'F' is not defined"));
}

TEST(Functions, DoNotGrowWithoutBound) {
  ModelProto proto = reluModel();
  constexpr int depth = 40; // 2^40 nodes
  for (int i = 0; i < depth; ++i) {
    auto &function = addFunction(proto, "F" + std::to_string(i));
    if (i + 1 == depth) {
      addNode(function, "Abs", "leaf", {"in"}, {"out"});
      continue;
    }
    std::string next = "F" + std::to_string(i + 1);
    addCall(function, next, "a", "in", "mid");
    addCall(function, next, "b", "mid", "out");
  }
  addCall(*proto.mutable_graph(), "F0", "call", "y", "z");
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("more than 200000 nodes"));
}

TEST(Functions, DoNotNestWithoutBound) {
  ModelProto proto = reluModel();
  constexpr int depth = 20000;
  for (int i = depth; i-- > 0;) { // the innermost comes first
    auto &function = addFunction(proto, "F" + std::to_string(i));
    if (i + 1 == depth)
      addNode(function, "Abs", "leaf", {"in"}, {"out"});
    else
      addCall(function, "F" + std::to_string(i + 1), "next", "in", "out");
  }
  addCall(*proto.mutable_graph(), "F0", "call", "y", "z");
  EXPECT_THAT(Imported(proto).messages(), HasSubstr("nest more than 64 deep"));
}

TEST(Functions, TakeNoMoreThanTheyHave) {
  ModelProto proto = reluModel();
  addNode(addFunction(proto, "F"), "Abs", "inner", {"in"}, {"out"});
  addCall(*proto.mutable_graph(), "F", "call", "y", "z").add_input("x");
  EXPECT_THAT(Imported(proto).messages(),
              HasSubstr("node 'call' (local.F) calls function 'F' with 2 inputs"));
}
