//===- ShapeSizes.cpp - Sizes of the symbolic dimensions of each shape ------------------------===//

#include "driver/ShapeSizes.h"

#include "frontend/Dimensions.h"

#include "llvm/Support/MathExtras.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

using Sizes = llvm::StringMap<int64_t>;

static bool isSymbol(StringRef dim) {
  int64_t number;
  return !dim.empty() && dim.getAsInteger(10, number) && isDimensionName(dim);
}

std::string mtc::tool::findBatchName(llvm::ArrayRef<ModelInput> inputs) {
  for (const ModelInput &input : inputs)
    if (!input.dims.empty() && isSymbol(input.dims.front()))
      return input.dims.front();
  return "";
}

/// Returns the tokens of a sample; 0 if no input has a size besides the batch.
static int64_t tokensOfSample(llvm::ArrayRef<ModelInput> inputs, StringRef batch,
                              const Sizes &sizes) {
  int64_t most = 0;
  for (const ModelInput &input : inputs) {
    if (input.dims.empty() || input.dims.front() != batch)
      continue;
    int64_t tokens = 0;
    for (const std::string &dim : llvm::drop_begin(input.dims))
      if (const int64_t size = sizes.lookup(dim); isSymbol(dim) && size)
        if (llvm::MulOverflow(std::max<int64_t>(tokens, 1), size, tokens))
          tokens = INT64_MAX;
    most = std::max(most, tokens);
  }
  return most;
}

/// Returns the sizes of a further shape: its own, and those that all shapes share.
static Sizes withShared(const Sizes &shared, const Sizes &own) {
  Sizes all = shared;
  for (const auto &entry : own)
    all[entry.first()] = entry.second;
  return all;
}

void mtc::tool::sizeBatches(llvm::ArrayRef<ModelInput> inputs, Options &options,
                            Problems &problems) {
  if (!options.batchTokens)
    return;
  PlanSettings &plan = options.plan;
  const std::string flag = "--batch-tokens " + std::to_string(*options.batchTokens);
  const std::string batch = findBatchName(inputs);
  if (batch.empty())
    return problems.add(flag + ": no input of the model has a symbolic batch dimension; export the "
                               "model with one");
  if (plan.dims.contains(batch))
    return problems.add(flag + ": --dim sets '" + batch + "', the batch; give one of them");
  if (tokensOfSample(inputs, batch, plan.dims) == 0)
    return problems.add(flag + ": no symbolic dimension besides the batch has a size; set it with "
                               "--dim, such as --dim sequence=128");
  auto sizeOf = [&](const Sizes &sizes) {
    const int64_t tokens = tokensOfSample(inputs, batch, sizes);
    return std::max<int64_t>(1, *options.batchTokens / tokens);
  };
  const Sizes first = plan.dims;
  plan.dims[batch] = sizeOf(first);
  for (Sizes &shape : plan.shapes)
    shape[batch] = sizeOf(withShared(first, shape));
}

void mtc::tool::orderShapes(StringRef batchName, PlanSettings &plan) {
  if (plan.shapes.empty())
    return;
  Sizes first;
  for (const auto &entry : plan.shapes.front())
    first[entry.first()] = plan.dims[entry.first()];
  auto sizeOf = [&](const Sizes &sizes) {
    double sample = 1;
    for (const auto &entry : sizes)
      if (entry.first() != batchName)
        sample *= static_cast<double>(entry.second);
    return std::pair(sample, sizes.lookup(batchName));
  };
  auto largest =
      std::max_element(plan.shapes.begin(), plan.shapes.end(),
                       [&](const Sizes &a, const Sizes &b) { return sizeOf(a) < sizeOf(b); });
  if (sizeOf(*largest) <= sizeOf(first))
    return;
  for (const auto &entry : *largest)
    plan.dims[entry.first()] = entry.second;
  *largest = std::move(first);
}
