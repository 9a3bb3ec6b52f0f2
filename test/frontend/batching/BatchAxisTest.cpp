//===- BatchAxisTest.cpp - Inputs with a batch axis -------------------------------------------===//

#include "frontend/batching/BatchAxis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Inputs = std::vector<StepInput>;

/// Returns the batch size and the names of inputs with a batch axis, or the error.
std::vector<std::string> choose(const Inputs &inputs,
                                const std::vector<std::string> &batchInputs = {}) {
  mtc::Problems problems;
  std::optional<BatchAxis> axis = chooseBatchAxis(inputs, batchInputs, problems);
  EXPECT_EQ(axis.has_value(), problems.empty());
  if (!axis)
    return {problems.get().front()};
  std::vector<std::string> result{std::to_string(axis->batch)};
  bool isAnyWhole = false;
  for (const StepInput &input : inputs)
    if (axis->inputs.contains(input.name))
      result.push_back(input.name);
    else
      isAnyWhole |= !input.shape.empty();
  // A message lists inputs without a batch axis if no flag names them.
  EXPECT_EQ(!axis->note.empty(), isAnyWhole && batchInputs.empty());
  return result;
}

const StepInput labels10 = {"labels", "", {10}, true};

} // namespace

TEST(BatchAxis, NamesOfDimensions) {
  EXPECT_THAT(choose({{"x", "batch", {8, 3}}, {"labels", "", {8}, true}}),
              ElementsAre("8", "x", "labels"));
  EXPECT_THAT(choose({{"x", "N", {8, 3}}, {"labels", "", {8}, true}}),
              ElementsAre("8", "x", "labels"));
  EXPECT_THAT(choose({{"ids", "batch_size", {8, 16}},
                      {"mask", "batch_size", {8, 16}},
                      {"bias", "16", {16, 16}},
                      {"step", "", {}}}),
              ElementsAre("8", "ids", "mask"));
  EXPECT_THAT(choose({{"ids", "text_batch", {8, 16}}, {"image", "image_batch", {8, 3}}}),
              ElementsAre("8", "ids", "image"));
  EXPECT_THAT(choose({{"x", "s0", {8, 3}}, {"mask", "1", {1, 3}}, {"scale", "", {}}}),
              ElementsAre("8", "x"));
  // Neither nodes nor edges are samples, and neither is an axis that only has the batch's extent by
  // chance.
  EXPECT_THAT(choose({{"nodes", "num_nodes", {10, 4}}, {"edges", "2", {2, 30}}, labels10}),
              ElementsAre("1"));
  EXPECT_THAT(choose({{"a", "s0", {8, 3}}, {"b", "s1", {8, 3}}}), ElementsAre("1"));
  EXPECT_THAT(choose({{"batch", "batch.0", {10}}, {"nodes", "nodes.0", {10, 4}}}),
              ElementsAre("1"));
  EXPECT_THAT(choose({{"x", "batch", {8, 3}}, {"pairs", "2*batch", {16, 3}}}), ElementsAre("1"));
  EXPECT_THAT(choose({{"x", "batch", {8, 3}}, {"other", "8", {8, 8}}}), ElementsAre("8", "x"));
}

TEST(BatchAxis, ExtentsOfFixedFiles) {
  EXPECT_THAT(choose({{"x", "1", {1, 3, 32, 32}}, {"labels", "", {1}, true}}),
              ElementsAre("1", "x", "labels"));
  EXPECT_THAT(choose({{"x", "10", {10, 3}}, {"mask", "1", {1, 3}}, labels10}),
              ElementsAre("10", "x", "labels"));
  EXPECT_THAT(choose({{"nodes", "10", {10, 4}}, {"edges", "2", {2, 30}}, labels10}),
              ElementsAre("1"));
  EXPECT_THAT(choose({{"x", "1", {1, 16}}, {"mask", "16", {16, 16}}}), ElementsAre("1"));
  EXPECT_THAT(choose({{"scale", "", {}}}), ElementsAre("1"));
  EXPECT_THAT(choose({{"x", "0", {0, 3}}}), ElementsAre(HasSubstr("no samples in 'x' [0, 3]")));
}

TEST(BatchAxis, LabelsNeedTheRows) {
  EXPECT_THAT(choose({{"ids", "batch", {8, 16}}, {"labels", "", {128}, true}}), ElementsAre("1"));
  EXPECT_THAT(choose({{"nodes", "10", {10, 4}}, {"labels", "", {1}, true}}), ElementsAre("1"));
}

TEST(BatchAxis, TheUserSays) {
  const Inputs graph = {{"nodes", "10", {10, 4}}, {"edges", "2", {2, 30}}, labels10};
  EXPECT_THAT(choose(graph, {"nodes"}), ElementsAre("10", "nodes", "labels"));
  EXPECT_THAT(choose({{"x", "batch", {8, 3}}}, {"none"}), ElementsAre("1"));
  EXPECT_THAT(choose({{"a", "s0", {8, 3}}, {"b", "s1", {8, 3}}}, {"a", "b"}),
              ElementsAre("8", "a", "b"));
  EXPECT_THAT(choose(graph, {"nodez"}), ElementsAre(HasSubstr("no input 'nodez'")));
  EXPECT_THAT(choose(graph, {"nodes", "edges"}),
              ElementsAre(HasSubstr("'nodes' [10, 4], 'edges' [2, 30]")));
  EXPECT_THAT(choose(graph, {"edges"}), ElementsAre(HasSubstr("the labels 'labels' [10]")));
  EXPECT_THAT(choose({{"t", "", {}}}, {"t"}), ElementsAre(HasSubstr("no axis")));
  EXPECT_THAT(choose({{"a", "a_batch", {8, 3}}, {"b", "b_batch", {4, 3}}}),
              ElementsAre(HasSubstr("inputs have different batch sizes")));
}
