//===- LabelSmoothingTest.cpp - Label smoothing that an exporter dropped ----------------------===//

#include "test/frontend/onnx/TestModel.h"

using namespace mtc::onnx;
using namespace mtc::onnx::test;

namespace {

/// The model has scores and labels, the loss that was exported from a call, and additional nodes
/// from the same call.
ModelProto lossModel(const std::string &call, std::initializer_list<const char *> more = {}) {
  ModelProto proto = reluModel();
  GraphProto &graph = *proto.mutable_graph();
  addDim(declare(*graph.add_input(), "t", TensorProto::INT64), 2);
  setCall(addNode(graph, "SoftmaxCrossEntropyLoss", "loss", {"y", "t"}, {"l"}), call);
  for (const char *op : more)
    setCall(addNode(graph, op, op, {"l"}, {op}), call);
  declare(*graph.add_output(), "l");
  return proto;
}

/// Returns the smoothing, or 0.
double smoothingOf(const ModelProto &proto) {
  Imported result(proto);
  for (NodeOp node : result.nodes())
    if (auto smoothing = node->getAttrOfType<mlir::FloatAttr>(labelSmoothingAttribute)) {
      EXPECT_TRUE(node.isOperator("SoftmaxCrossEntropyLoss"));
      return smoothing.getValueAsDouble();
    }
  return 0;
}

} // namespace

TEST(LabelSmoothing, IsThatOfTheFxNode) {
  EXPECT_EQ(smoothingOf(lossModel(
                "cross_entropy_loss.default](args = (%y, %t, None, 1, -100, 0.25), kwargs = {})")),
            0.25);
  EXPECT_EQ(smoothingOf(lossModel("cross_entropy_loss.default](args = (%y, %t), kwargs = "
                                  "{label_smoothing: 0.5, reduction: 2})")),
            0.5);
}

TEST(LabelSmoothing, IsAbsentWhereTheFxNodeHasNone) {
  EXPECT_EQ(
      smoothingOf(lossModel("cross_entropy_loss.default](args = (%y, %t, %w, 1, 3), kwargs = {})")),
      0);
  EXPECT_EQ(smoothingOf(lossModel(
                "cross_entropy_loss.default](args = (%y, %t, %w, 1, 3, 0.0), kwargs = {})")),
            0);
  for (const char *value : {"1.5", "-0.5", "nan", "%s", ""})
    EXPECT_EQ(smoothingOf(lossModel(std::string("cross_entropy_loss.default](args = (%y, %t, %w, "
                                                "1, 3, ") +
                                    value + "), kwargs = {})")),
              0)
        << value;
  EXPECT_EQ(smoothingOf(lossModel(
                "nll_loss_forward.default](args = (%y, %t, None, 1, 3, 0.25), kwargs = {})")),
            0);
}

TEST(LabelSmoothing, IsComputedOnceWhereSeveralNodesTranslateTheLoss) {
  EXPECT_EQ(smoothingOf(lossModel(
                "cross_entropy_loss.default](args = (%y, %t, None, 1, -100, 0.25), kwargs = {})",
                {"Neg"})),
            0);
}
