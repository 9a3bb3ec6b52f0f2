//===- BatchAxis.cpp - Detection of the batch axis of inputs ----------------------------------===//

#include "frontend/batching/BatchAxis.h"

#include "frontend/Dimensions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace mtc {

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
        "inputs have different batch sizes: " + listed(rows) +
        "; use --dim to set one size, or --batch-input to select the inputs with a batch axis");
    return std::nullopt;
  }
  if (axis.batch == 0) {
    problems.add("no samples in " + listed(rows) + ": the batch axis is 0");
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
      problems.add("--batch-input " + name + ": no input " + quoted(name) + "; the inputs are " +
                   listed(make_pointer_range(inputs)));
    else if (!hasAxis(*found))
      problems.add("--batch-input " + name + ": the input has no axis; expected a batch axis");
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
      problems.add("--batch-input " + batchInputs.front() + ": the batch size is " +
                   Twine(axis->batch) + ", but the labels " + describe(input) +
                   " have another one; use --output to select an output of this batch size, or "
                   "--batch-input none to pass all inputs whole");
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
    return "no common batch axis found for " + listed(whole) +
           "; passed whole to each step. Use --batch-input NAME for each input with a batch axis";
  return "batch size " + std::to_string(axis.batch) + " for " + listed(rows) + "; " +
         listed(whole) +
         " passed whole to each step. Use --batch-input NAME for each input with a batch axis";
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

} // namespace mtc
