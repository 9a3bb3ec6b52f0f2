//===- BatchAxis.cpp - Detection of the batch axis of inputs ----------------------------------===//

#include "frontend/batching/BatchAxis.h"

#include "frontend/Dimensions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

class Chooser {
public:
  Chooser(ArrayRef<StepInput> inputs, Problems &problems) : inputs(inputs), problems(problems) {}

  std::optional<BatchAxis> named(ArrayRef<std::string> batchInputs);
  std::optional<BatchAxis> guessed();

private:
  /// Returns the batch axis shared by `rows` and by labels of matching extent; nothing after a
  /// problem.
  std::optional<BatchAxis> axisOf(ArrayRef<const StepInput *> rows);
  SmallVector<const StepInput *> symbolicRows();
  SmallVector<const StepInput *> fixedRows();
  std::string describeWhole(const BatchAxis &axis);

  ArrayRef<StepInput> inputs;
  Problems &problems;
};

bool hasAxis(const StepInput &input) { return !input.shape.empty(); }

bool isSymbolic(const StepInput &input) {
  int64_t number;
  return hasAxis(input) && !input.firstDim.empty() &&
         StringRef(input.firstDim).getAsInteger(10, number);
}

/// Returns whether the file names the axis. The text INPUT.AXIS stands for an unnamed axis.
bool isNamedBatch(const StepInput &input) {
  return isSymbolic(input) && isDimensionName(input.firstDim) &&
         input.firstDim != input.name + ".0" &&
         StringRef(input.firstDim).contains_insensitive("batch");
}

std::string describe(const StepInput &input) {
  std::string text = quoted(input.name) + " [";
  for (auto [i, extent] : enumerate(input.shape))
    text += (i ? ", " : "") + std::to_string(extent);
  return text + "]";
}

template <typename Range> std::string listed(const Range &inputs) {
  SmallVector<std::string> texts;
  for (const StepInput *input : inputs)
    texts.push_back(describe(*input));
  return join(texts, ", ");
}

} // namespace

/// Selects inputs by the declared names of their first axes; empty if the names are ambiguous.
SmallVector<const StepInput *> Chooser::symbolicRows() {
  SmallVector<const StepInput *> rows;
  SmallVector<StringRef> names;
  for (const StepInput &input : inputs)
    if (isNamedBatch(input)) {
      rows.push_back(&input);
      names.push_back(input.firstDim);
    }
  if (!rows.empty()) {
    // A first axis with several entries per sample can neither be sliced per sample nor be shared
    // by all samples.
    bool isDerived = any_of(inputs, [&](const StepInput &input) {
      return isSymbolic(input) && !is_contained(names, input.firstDim) &&
             any_of(dimensionNames(input.firstDim),
                    [&](const std::string &name) { return is_contained(names, name); });
    });
    return isDerived ? SmallVector<const StepInput *>() : rows;
  }
  for (const StepInput &input : inputs) {
    if (isSymbolic(input) && (rows.empty() || input.firstDim == rows.front()->firstDim))
      rows.push_back(&input);
    else if (hasAxis(input) && (isSymbolic(input) || (input.shape[0] != 1 && !input.isLabel)))
      return {};
  }
  return rows;
}

/// Selects inputs by the extents of their first axes; empty if the extents are ambiguous.
SmallVector<const StepInput *> Chooser::fixedRows() {
  SmallVector<const StepInput *> rows;
  for (const StepInput &input : inputs) {
    if (!hasAxis(input))
      continue;
    if (rows.empty() || input.shape[0] == rows.front()->shape[0])
      rows.push_back(&input);
    else if (input.shape[0] != 1)
      return {};
  }
  return rows;
}

std::optional<BatchAxis> Chooser::axisOf(ArrayRef<const StepInput *> rows) {
  BatchAxis axis;
  axis.batch = rows.front()->shape[0];
  if (!all_of(rows, [&](const StepInput *each) { return each->shape[0] == axis.batch; })) {
    problems.add(
        "the first axes of inputs that hold rows differ in extent: " + listed(rows) +
        "; give them one size with --dim, or name those that hold rows with --batch-input");
    return std::nullopt;
  }
  if (axis.batch == 0) {
    problems.add("a step would take no rows of " + listed(rows) + ": the first axis is 0");
    return std::nullopt;
  }
  for (const StepInput *input : rows)
    axis.inputs.insert(input->name);
  for (const StepInput &input : inputs)
    if (input.isLabel && hasAxis(input) && input.shape[0] == axis.batch)
      axis.inputs.insert(input.name);
  return axis;
}

std::optional<BatchAxis> Chooser::named(ArrayRef<std::string> batchInputs) {
  if (batchInputs == ArrayRef<std::string>{"none"})
    return BatchAxis();
  SmallVector<const StepInput *> rows;
  const size_t before = problems.size();
  for (const std::string &name : batchInputs) {
    const StepInput *found =
        find_if(inputs, [&](const StepInput &input) { return input.name == name; });
    if (found == inputs.end())
      problems.add("--batch-input " + name + ": there is no input " + quoted(name) +
                   "; inputs are " + listed(make_pointer_range(inputs)));
    else if (!hasAxis(*found))
      problems.add("--batch-input " + name + ": the input has no axis that could count rows");
    else
      rows.push_back(found);
  }
  if (problems.size() != before)
    return std::nullopt;
  std::optional<BatchAxis> axis = axisOf(rows);
  if (!axis)
    return std::nullopt;
  for (const StepInput &input : inputs)
    if (input.isLabel && !axis->inputs.contains(input.name)) {
      problems.add("--batch-input " + batchInputs.front() + ": a step takes " + Twine(axis->batch) +
                   " rows, but the labels " + describe(input) +
                   " have other ones; give the loss an output of as many rows with --output, or "
                   "take every input whole with --batch-input none");
      return std::nullopt;
    }
  return axis;
}

std::string Chooser::describeWhole(const BatchAxis &axis) {
  SmallVector<const StepInput *> rows, whole;
  for (const StepInput &input : inputs)
    if (hasAxis(input))
      (axis.inputs.contains(input.name) ? rows : whole).push_back(&input);
  if (whole.empty())
    return "";
  if (rows.empty())
    return "it does not follow from the model that the first axes of " + listed(whole) +
           " count the same rows, so each is taken whole, one a step; --batch-input NAME, once for "
           "each input that holds rows, says otherwise";
  return "a step takes " + std::to_string(axis.batch) + " rows of " + listed(rows) +
         ", and the whole of " + listed(whole) +
         "; --batch-input NAME, once for each input that holds rows, says otherwise";
}

std::optional<BatchAxis> Chooser::guessed() {
  BatchAxis none;
  none.note = describeWhole(none);
  SmallVector<const StepInput *> rows = any_of(inputs, isSymbolic) ? symbolicRows() : fixedRows();
  if (rows.empty())
    return none;
  std::optional<BatchAxis> axis = axisOf(rows);
  if (!axis)
    return std::nullopt;
  if (any_of(inputs, [&](const StepInput &input) {
        return input.isLabel && !axis->inputs.contains(input.name);
      }))
    return none;
  axis->note = describeWhole(*axis);
  return axis;
}

std::optional<BatchAxis> chooseBatchAxis(ArrayRef<StepInput> inputs,
                                         ArrayRef<std::string> batchInputs, Problems &problems) {
  Chooser chooser(inputs, problems);
  return batchInputs.empty() ? chooser.guessed() : chooser.named(batchInputs);
}

} // namespace mtc::onnx
