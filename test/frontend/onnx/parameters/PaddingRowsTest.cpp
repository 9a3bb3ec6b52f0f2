//===- PaddingRowsTest.cpp - Rows of embeddings that stay zero --------------------------------===//

#include "test/frontend/onnx/TestModel.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;

namespace {

/// A table [3, 2] is used by a Gather, in a file of PyTorch's older exporter.
ModelProto tableModel(std::initializer_list<float> rows, const char *producer = "pytorch") {
  ModelProto proto = reluModel();
  proto.set_producer_name(producer);
  *proto.mutable_graph()->add_initializer() = floats("embed.weight", {3, 2}, rows);
  addNode(*proto.mutable_graph(), "Gather", "/embed/Gather", {"embed.weight", "x"}, {"e"});
  return proto;
}

/// Returns the row of the table that receives no gradient, and the messages.
std::pair<int64_t, std::string> paddingOf(const ModelProto &proto) {
  mlir::MLIRContext context;
  Folder folder;
  mtc::Problems problems;
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    said += diagnostic.str();
    return mlir::success();
  });
  auto model = Model::read(folder.write("model.onnx", proto.SerializeAsString()), problems);
  auto module = importModel(*model, context, {}, problems);
  EXPECT_TRUE(problems.empty());
  int64_t row = -1;
  module->walk([&](NodeOp node) {
    if (auto padding = node->getAttrOfType<mlir::IntegerAttr>(paddingAttribute))
      row = padding.getInt();
  });
  return {row, said};
}

} // namespace

TEST(PaddingRows, AreTheOnlyRowOfZeros) {
  auto [row, said] = paddingOf(tableModel({1, 2, 0, 0, 3, 0}));
  EXPECT_EQ(row, 1);
  EXPECT_EQ(said, "row 1 of 'embed.weight' is zero and not trained, as in "
                  "nn.Embedding(padding_idx=1); export with mtc.export to record padding_idx");
  EXPECT_EQ(paddingOf(tableModel({0, 0, 0, 0, 3, 0})).first, -1);
  EXPECT_EQ(paddingOf(tableModel({1, 0, 0, 2, 3, 0})).first, -1);
}

TEST(PaddingRows, AreThoseOfAnEmbeddingOfTheOlderExporter) {
  EXPECT_EQ(paddingOf(tableModel({0, 0, 1, 2, 3, 4}, "keras")).first, -1);
  ModelProto listed = tableModel({0, 0, 1, 2, 3, 4});
  *listed.mutable_graph()->mutable_metadata_props() =
      dynamoModel({"embed.weight"}).graph().metadata_props();
  EXPECT_EQ(paddingOf(listed).first, -1);
  ModelProto columns = tableModel({0, 0, 1, 2, 3, 4});
  setInteger(*columns.mutable_graph()->mutable_node(1), "axis", 1);
  EXPECT_EQ(paddingOf(columns).first, -1);
  ModelProto broken = tableModel({0, 0, 1, 2, 3, 4});
  broken.mutable_graph()->mutable_node(1)->clear_input();
  EXPECT_EQ(paddingOf(broken).first, -1);
}
