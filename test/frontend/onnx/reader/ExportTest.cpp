//===- ExportTest.cpp - Models with other weights ---------------------------------------------===//

#include "runtime/abi/file_marks.h"
#include "test/frontend/onnx/TestModel.h"

#include "frontend/onnx/reader/Export.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

namespace {

struct Exported {
  Exported(const ModelProto &proto, std::initializer_list<const char *> trained,
           const Folder &folder, llvm::ArrayRef<AddedInitializer> added = {},
           uint64_t limit = maxModelBytes) {
    mtc::Problems problems;
    model = Model::read(folder.write("m.onnx", proto.SerializeAsString()), problems);
    EXPECT_TRUE(problems.empty());
    llvm::StringSet<> names;
    for (const char *name : trained)
      names.insert(name);
    auto result = exportSegments(*model, added, names, {}, limit);
    if (result)
      segments = std::move(*result);
    else
      reason = llvm::toString(result.takeError());
  }

  /// Returns the exported file in a form, in which every byte of the trained initializers is
  /// `fill`.
  ModelProto filled(char fill, mtc::ExportForm form = mtc::ExportForm::Original) {
    std::string bytes;
    for (const FileSegment &segment : segments) {
      if (segment.form != mtc::ExportForm::Every && segment.form != form)
        continue;
      bytes += segment.bytes;
      if (!segment.initializer.empty())
        bytes +=
            std::string(llvm::cantFail(model->initializerBytes(segment.initializer)).size(), fill);
    }
    ModelProto proto;
    EXPECT_TRUE(proto.ParseFromString(bytes));
    return proto;
  }

  std::unique_ptr<Model> model;
  std::vector<FileSegment> segments;
  std::string reason;
};

} // namespace

TEST(Export, DescribesTensorsWithoutDataBeyondALimit) {
  ModelProto proto = reluModel();
  for (const char *name : {"w", "v", "other"}) {
    TensorProto &weight = *proto.mutable_graph()->add_initializer() =
        tensor(name, {8}, TensorProto::FLOAT);
    weight.set_raw_data(std::string(32, '\1'));
  }
  Folder folder;
  Exported exported(proto, {"w", "v"}, folder, {}, /*limit=*/64);
  ASSERT_EQ(exported.reason, "");
  std::string outer, graph;
  bool isInGraph = false;
  int external = 0;
  for (const FileSegment &segment : exported.segments) {
    if (segment.kind == mtc::SegmentKind::External) {
      TensorProto header;
      ASSERT_TRUE(header.ParseFromString(segment.bytes));
      EXPECT_EQ(header.name(), segment.initializer);
      EXPECT_FALSE(header.has_raw_data());
      ++external;
      continue;
    }
    (isInGraph ? graph : outer) += segment.bytes;
    isInGraph |= segment.kind == mtc::SegmentKind::Graph;
  }
  EXPECT_EQ(external, 2);
  ModelProto model;
  ASSERT_TRUE(model.ParseFromString(outer));
  ASSERT_TRUE(model.mutable_graph()->ParseFromString(graph));
  EXPECT_EQ(model.graph().node_size(), proto.graph().node_size());
  ASSERT_EQ(model.graph().initializer_size(), 1);
  EXPECT_EQ(model.graph().initializer(0).raw_data(), std::string(32, '\1'));
}

TEST(Export, KeepsStrings) {
  ModelProto proto = reluModel();
  TensorProto &strings = *proto.mutable_graph()->add_initializer() =
      tensor("classes", {2}, TensorProto::STRING);
  strings.add_string_data("cat");
  strings.add_string_data("dog");
  *proto.mutable_graph()->add_initializer() = floats("w", {1}, {5});
  Folder folder;
  ModelProto exported = Exported(proto, {"w"}, folder).filled(0);
  ASSERT_EQ(exported.graph().initializer_size(), 2);
  EXPECT_EQ(exported.graph().initializer(0).SerializeAsString(), strings.SerializeAsString());
  EXPECT_EQ(exported.graph().initializer(1).raw_data(), bytesOf<float>({0}));
}

/// The mark of files that mtc wrote.
void mark(ModelProto &model) {
  auto *entry = model.add_metadata_props();
  entry->set_key(MTC_WRITER_KEY);
  entry->set_value(MTC_WRITER);
}

TEST(Export, ChangesTheTrainedWeightsOnly) {
  ModelProto proto = reluModel();
  proto.set_producer_name("producer");
  proto.set_doc_string("doc");
  auto *entry = proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = floats("kept", {1}, {5});
  TensorProto &typed = *graph.add_initializer() = tensor("typed", {300});
  for (int i = 0; i < 300; ++i)
    typed.add_float_data(float(i));
  *graph.add_initializer() = floats("raw", {2}, {1, 2});
  graph.mutable_initializer(2)->set_doc_string("about raw");
  *graph.add_initializer() = floats("last", {1}, {7});

  Folder folder;
  Exported result(proto, {"typed", "raw"}, folder);
  ASSERT_EQ(result.reason, "");
  ModelProto filled = result.filled('\x11');
  ModelProto expected = proto;
  auto &initializers = *expected.mutable_graph()->mutable_initializer();
  initializers[1].clear_float_data();
  initializers[1].set_raw_data(std::string(1200, '\x11'));
  initializers[2].set_raw_data(std::string(8, '\x11'));
  mark(expected);
  EXPECT_EQ(filled.SerializeAsString(), expected.SerializeAsString());
}

TEST(Export, TakesExternalDataIn) {
  Folder folder;
  folder.write("w.bin", bytesOf<float>({1, 2, 3}));
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  *graph.add_initializer() = external("kept", {2}, {{"location", "w.bin"}});
  *graph.add_initializer() = external("trained", {3}, {{"location", "w.bin"}});
  auto *attribute = addNode(graph, "Constant", "c", {}, {"c"}).add_attribute();
  attribute->set_name("value");
  attribute->set_type(::onnx::AttributeProto::TENSOR);
  *attribute->mutable_t() = external("", {1}, {{"location", "w.bin"}, {"offset", "8"}});

  Exported result(proto, {"trained"}, folder);
  ASSERT_EQ(result.reason, "");
  ModelProto filled = result.filled('\0');
  const auto &initializers = filled.graph().initializer();
  EXPECT_EQ(initializers[0].raw_data(), bytesOf<float>({1, 2}));
  EXPECT_EQ(initializers[1].raw_data(), std::string(12, '\0'));
  const TensorProto &inside = filled.graph().node(1).attribute(0).t();
  EXPECT_EQ(inside.raw_data(), bytesOf<float>({3}));
  for (const TensorProto *tensor : {&initializers[0], &initializers[1], &inside}) {
    EXPECT_EQ(tensor->external_data_size(), 0);
    EXPECT_EQ(tensor->data_location(), TensorProto::DEFAULT);
  }
}

/// The model has subgraphs at two depths and in a function, after a Constant node that an
/// initializer replaces.
TEST(Export, ChangesInitializersOfSubgraphsWhereTheyAre) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  auto *value = addNode(graph, "Constant", "c", {}, {"c"}).add_attribute();
  value->set_name("value");
  value->set_type(::onnx::AttributeProto::TENSOR);
  *value->mutable_t() = floats("", {1}, {3});
  *graph.add_initializer() = floats("w", {1}, {5});
  NodeProto &node = addNode(graph, "If", "if", {"y"}, {"z"});
  node.add_attribute()->set_name("before");
  node.mutable_attribute(0)->set_i(7);
  GraphProto &branch = addSubgraph(node, "then_branch", {}, {"a"});
  *branch.add_initializer() = floats("kept", {1}, {5});
  *branch.add_initializer() = floats("a", {2}, {6, 7});
  NodeProto &nested = addNode(branch, "If", "nested", {"y"}, {"b"});
  addNode(addSubgraph(nested, "then_branch", {}, {"b"}), "Neg", "neg", {"w"}, {"b"});
  GraphProto &deep = addSubgraph(nested, "else_branch", {}, {"w"});
  TensorProto &typed = *deep.add_initializer() = tensor("w", {3});
  for (int i = 0; i < 3; ++i)
    typed.add_float_data(float(i));
  auto &function = *proto.add_functions();
  function.set_name("f");
  function.set_domain("local");
  addNode(function, "Relu", "r", {"x"}, {"y"});
  NodeProto &inside = addNode(function, "If", "if", {"y"}, {"z"});
  *addSubgraph(inside, "then_branch", {}, {"v"}).add_initializer() = floats("v", {1}, {9});

  Folder folder;
  AddedInitializer added{"c", "c", {{{2, 1, 0, 0, 0}, 0}}, 1};
  Exported result(proto, {"a", "w.2", "v", "c"}, folder, added);
  ASSERT_EQ(result.reason, "");
  ModelProto expected = proto;
  GraphProto &main = *expected.mutable_graph();
  *main.add_initializer() = tensor("c", {1});
  main.mutable_initializer(1)->set_raw_data(std::string(4, '\x11'));
  GraphProto &changed = *main.mutable_node(2)->mutable_attribute(1)->mutable_g();
  changed.mutable_initializer(1)->set_raw_data(std::string(8, '\x11'));
  NodeProto &inner = *changed.mutable_node(0);
  inner.mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "c");
  TensorProto &weight = *inner.mutable_attribute(1)->mutable_g()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_raw_data(std::string(12, '\x11'));
  NodeProto &called = *expected.mutable_functions(0)->mutable_node(1);
  called.mutable_attribute(0)->mutable_g()->mutable_initializer(0)->set_raw_data(
      "\x11\x11\x11\x11");
  main.mutable_node()->DeleteSubrange(1, 1);
  mark(expected);
  EXPECT_EQ(result.filled('\x11').SerializeAsString(), expected.SerializeAsString());
}

namespace {

TensorProto boolean(const std::string &name, bool value) {
  TensorProto result = tensor(name, {}, TensorProto::BOOL);
  result.set_raw_data(std::string(1, char(value)));
  return result;
}

NodeProto &addConstant(GraphProto &graph, const TensorProto &tensor) {
  NodeProto &node = addNode(graph, "Constant", tensor.name(), {}, {tensor.name().c_str()});
  auto &value = *node.add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  *value.mutable_t() = tensor;
  return node;
}

template <typename Owner>
NodeProto &addBatchNorm(Owner &owner, const char *input,
                        std::initializer_list<const char *> outputs) {
  NodeProto &node = addNode(owner, "BatchNormalization", "bn",
                            {input, "scale", "bias", "mean", "variance"}, outputs);
  auto &training = *node.add_attribute();
  training.set_name("training_mode");
  training.set_type(::onnx::AttributeProto::INT);
  training.set_i(1);
  return node;
}

/// Returns the nodes as texts of the form operator(operands)results.
template <typename Owner> std::vector<std::string> nodesOf(const Owner &owner) {
  std::vector<std::string> texts;
  for (const NodeProto &node : owner.node()) {
    std::string text = node.op_type() + "(";
    for (const std::string &input : node.input())
      text += input + ",";
    text += ")";
    for (const std::string &output : node.output())
      text += output + ",";
    for (const auto &attribute : node.attribute())
      if (attribute.name() == "training_mode")
        text += " " + std::to_string(attribute.i());
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> initializersOf(const ModelProto &proto) {
  std::vector<std::string> names;
  for (const TensorProto &tensor : proto.graph().initializer())
    names.push_back(tensor.name());
  return names;
}

} // namespace

TEST(Export, InferenceFormDropsWhatTrainingComputes) {
  Folder folder;
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  graph.clear_node();
  *graph.add_initializer() = floats("w", {3}, {1, 2, 3});
  *graph.add_initializer() = floats("ratio", {}, {0.5});
  *graph.add_initializer() = boolean("training", true);
  for (const char *name : {"scale", "bias", "mean", "variance"})
    *graph.add_initializer() = floats(name, {3}, {1, 2, 3});
  addConstant(graph, boolean("off", false));
  addConstant(graph, boolean("not", false));
  addNode(graph, "Not", "not", {"not"}, {"on"});
  addNode(graph, "Dropout", "by initializer", {"x", "ratio", "training"}, {"a", "mask"});
  addNode(graph, "Dropout", "by node", {"a", "", "on"}, {"b"});
  addNode(graph, "Dropout", "in inference", {"b", "ratio", "off"}, {"c"});
  addBatchNorm(graph, "c", {"d", "running_mean", "running_variance"});
  addNode(graph, "Add", "add", {"d", "running_mean"}, {"y"});
  for (const char *name : {"running_mean", "running_variance", "on"})
    declare(*graph.add_value_info(), name);

  Exported result(proto, {"w", "mean"}, folder);
  ASSERT_EQ(result.reason, "");
  ModelProto inference = result.filled('\x11', mtc::ExportForm::Inference);
  EXPECT_THAT(nodesOf(inference.graph()),
              ElementsAre("Identity(mean,)running_mean,", "Constant()off,",
                          "Dropout(x,ratio,)a,mask,", "Dropout(a,)b,", "Dropout(b,ratio,off,)c,",
                          "BatchNormalization(c,scale,bias,mean,variance,)d, 0",
                          "Add(d,running_mean,)y,"));
  EXPECT_THAT(initializersOf(inference),
              ElementsAre("w", "ratio", "scale", "bias", "mean", "variance"));
  ASSERT_EQ(inference.graph().value_info_size(), 1);
  EXPECT_EQ(inference.graph().value_info(0).name(), "running_mean");
  EXPECT_EQ(inference.graph().initializer(0).raw_data(), std::string(12, '\x11'));

  // This form equals the file.
  ModelProto original = result.filled('\x11');
  EXPECT_EQ(nodesOf(original.graph()), nodesOf(graph));
  EXPECT_THAT(initializersOf(original), UnorderedElementsAreArray(initializersOf(proto)));
}

TEST(Export, InferenceFormOfSubgraphsAndFunctions) {
  Folder folder;
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  graph.clear_node();
  graph.set_name("main");
  *graph.add_initializer() = boolean("training", true);
  NodeProto &choice = addNode(graph, "If", "if", {"training"}, {"z"});
  for (const char *name : {"then_branch", "else_branch"}) {
    auto &branch = *choice.add_attribute();
    branch.set_name(name);
    branch.set_type(::onnx::AttributeProto::GRAPH);
    branch.mutable_g()->set_name(name);
    addNode(*branch.mutable_g(), "Dropout", name, {"x", "", "training"}, {"inner"});
    declare(*branch.mutable_g()->add_output(), "inner");
  }
  auto &function =
      addFunction(proto, "Norm", {"input", "scale", "bias", "mean", "variance", "on"}, "d");
  auto *training = addBatchNorm(function, "input", {"n", "m", "v"}).mutable_attribute(0);
  training->clear_i();
  training->set_ref_attr_name("training");
  function.add_attribute("training");
  addNode(function, "Dropout", "dropout", {"n", "", "on"}, {"d"});
  NodeProto &call =
      addNode(graph, "Norm", "call", {"z", "scale", "bias", "mean", "variance", "training"}, {"y"});
  call.set_domain("local");
  auto &given = *call.add_attribute();
  given.set_name("training");
  given.set_type(::onnx::AttributeProto::INT);
  given.set_i(1);
  for (const char *name : {"scale", "bias", "mean", "variance"})
    *graph.add_initializer() = floats(name, {3}, {1, 2, 3});

  Exported result(proto, {}, folder);
  ASSERT_EQ(result.reason, "");
  ModelProto inference = result.filled('\0', mtc::ExportForm::Inference);
  EXPECT_THAT(
      nodesOf(inference.functions(0)),
      ElementsAre("BatchNormalization(input,scale,bias,mean,variance,)n, 0", "Dropout(n,)d,"));
  EXPECT_EQ(inference.functions(0).node(0).attribute(0).ref_attr_name(), "");
  for (const auto &branch : inference.graph().node(0).attribute())
    EXPECT_THAT(nodesOf(branch.g()), ElementsAre("Dropout(x,)inner,"));
  EXPECT_THAT(initializersOf(inference), Contains("training")) << "If reads it";
}

TEST(Export, InferenceFormBeforeVersionsWithTrainingMode) {
  Folder folder;
  ModelProto proto = reluModel();
  proto.mutable_opset_import(0)->set_version(9);
  GraphProto &graph = *proto.mutable_graph();
  graph.clear_node();
  for (const char *name : {"scale", "bias", "mean", "variance"})
    *graph.add_initializer() = floats(name, {3}, {1, 2, 3});
  addNode(graph, "Dropout", "dropout", {"x"}, {"d"});
  addBatchNorm(graph, "d", {"y", "m", "v", "sm", "sv"}).clear_attribute();
  declare(*graph.add_output(), "sv");
  Exported result(proto, {}, folder);
  ASSERT_EQ(result.reason, "");
  EXPECT_THAT(nodesOf(result.filled('\0', mtc::ExportForm::Inference).graph()),
              ElementsAre("Identity(variance,)sv,", "Dropout(x,)d,",
                          "BatchNormalization(d,scale,bias,mean,variance,)y,"));
}

TEST(Export, SaysWhyItIsNotPossible) {
  Folder folder;
  ModelProto proto = reluModel();
  *proto.mutable_graph()->add_initializer() = external("w", {2}, {{"location", "w.bin"}});
  EXPECT_THAT(Exported(proto, {}, folder).reason,
              HasSubstr("export is not possible: initializer 'w': external data file 'w.bin' is "
                        "not in the model's folder"));
  EXPECT_EQ(Exported(proto, {"w"}, folder).reason, "") << "its own data is not needed";
  *proto.mutable_graph()->add_initializer() =
      external("large", {int64_t(1) << 30}, {{"location", "w.bin"}});
  EXPECT_THAT(Exported(proto, {"w"}, folder).reason, HasSubstr("is limited to 2 GiB"));
  EXPECT_EQ(Exported(proto, {"w", "large"}, folder).reason, "") << "its data is external";
}
