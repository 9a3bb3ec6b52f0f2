//===- ExportTest.cpp - Models with other weights ---------------------------------------------===//

#include "TestModel.h"

#include "frontend/reader/Export.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;
using ::testing::HasSubstr;

namespace {

struct Exported {
  Exported(const ModelProto &proto, std::initializer_list<const char *> trained,
           const Folder &folder, llvm::ArrayRef<AddedInitializer> added = {}) {
    Problems problems;
    model = Model::read(folder.write("m.onnx", proto.SerializeAsString()), problems);
    EXPECT_TRUE(problems.empty());
    llvm::StringSet<> names;
    for (const char *name : trained)
      names.insert(name);
    auto result = exportSegments(*model, added, names);
    if (result)
      segments = std::move(*result);
    else
      reason = llvm::toString(result.takeError());
  }

  /// The file with `fill` in every byte of the trained initializers.
  ModelProto filled(char fill) {
    std::string bytes;
    for (const FileSegment &segment : segments) {
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

/// Subgraphs at two depths and in a function, behind a Constant node that an initializer replaces.
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
  EXPECT_EQ(result.filled('\x11').SerializeAsString(), expected.SerializeAsString());
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
  EXPECT_THAT(Exported(proto, {"w", "large"}, folder).reason, HasSubstr("ends at 2 GiB"));
}
