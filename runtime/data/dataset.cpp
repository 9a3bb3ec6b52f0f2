// Binds --data or --validate to the program's inputs.
#include "runtime/data/dataset.h"

#include "runtime/data/label_fill.h"
#include "runtime/data/next_token_check.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

namespace mtc::runtime {

using Flags = std::vector<std::pair<std::string, std::string>>;

void Dataset::checkNames(const Flags &flags, Problems &problems) const {
  std::vector<std::string> names;
  names.reserve(program.input_count);
  for (uint32_t i = 0; i < program.input_count; ++i)
    names.emplace_back(program.inputs[i].tensor.name);
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    if (std::find(names.begin(), names.end(), flag->first) == names.end()) {
      std::string list;
      for (const std::string &name : names)
        list += (list.empty() ? "" : ", ") + name;
      problems.add(flagOf(flag->first, flag->second), ": the program has no input '", flag->first,
                   "'", terminal::suggestNames(flag->first, names), "; its inputs are ", list);
    }
    if (std::find_if(flags.begin(), flag, [&](const auto &f) { return f.first == flag->first; }) !=
        flag)
      problems.add(flagOf(flag->first, flag->second), ": '", flag->first, "' is given twice");
  }
}

static const std::string *fileOf(const Flags &flags, const MtcInput &input) {
  for (const auto &[name, file] : flags)
    if (name == input.tensor.name)
      return &file;
  return nullptr;
}

/// Opens the files of each input. The labels of a token stream are its next tokens: the last token
/// of each file is only a label.
std::vector<Dataset::Source> Dataset::open(const Flags &flags, bool labelsOptional,
                                           Problems &problems) {
  std::vector<Source> sources(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    const MtcInput &input = program.inputs[i];
    if (const std::string *file = fileOf(flags, input))
      problems.collect([&] {
        sources[i] = {openDataFile(input, *file, flagName), flagOf(input.tensor.name, *file), {}};
      });
    else if (input.shifted_from < 0 && !(labelsOptional ? input.is_label : input.is_of_outputs))
      problems.add(flagName, " ", input.tensor.name,
                   "=FILE is missing: ", typeName(input.tensor.type), " ", shapesOfFiles(input));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const MtcInput &input = program.inputs[i];
    if (input.shifted_from < 0)
      continue;
    Source &labels = sources[i], &tokens = sources[static_cast<size_t>(input.shifted_from)];
    labelsOfStream[i] =
        !labelsOptional && !fileOf(flags, input) && tokens.file && tokens.file->isStream;
    if (labelsOfStream[i])
      labels = {tokens.file, tokens.flag + " (for '" + input.tensor.name + "')", {}};
    if (!labels.file || !labels.file->isStream)
      continue;
    labels.window = {.shift = 1, .spared = 1};
    tokens.window.spared = 1;
  }
  return sources;
}

/// Binds each input to its files. Wrong types or shapes and unreadable files are added to the
/// problems.
void Dataset::bind(const Flags &flags, bool labelsOptional, const DataTransforms &transforms,
                   Problems &problems) {
  std::vector<Source> sources = open(flags, labelsOptional, problems);
  auto bindColumn = [&](size_t i) {
    const MtcInput &input = program.inputs[i];
    Source &source = sources[i];
    const auto normalization = transforms.normalizations.find(input.tensor.name);
    const auto augmentation = transforms.augmentations.find(input.tensor.name);
    problems.collect([&] {
      columns[i].emplace(
          input, source.flag, std::move(*source.file), source.window,
          ColumnTransforms{
              normalization == transforms.normalizations.end() ? nullptr : &normalization->second,
              augmentation == transforms.augmentations.end() ? nullptr : &augmentation->second,
              workers.get()});
    });
  };
  for (size_t i = 0; i < columns.size(); ++i)
    if (sources[i].file && !labelsOfStream[i])
      bindColumn(i);
  // The problems of tokens that do not fit are those of the labels.
  for (size_t i = 0; i < columns.size(); ++i)
    if (labelsOfStream[i] && columns[static_cast<size_t>(program.inputs[i].shifted_from)])
      bindColumn(i);
}

/// Determines the unit of data. Files of entries and files of samples cannot be combined: an entry
/// belongs to one step, whereas the order of samples determines the samples of a step.
void Dataset::chooseFeeding(Problems &problems) {
  const DataColumn *rows = nullptr, *entries = nullptr;
  for (const auto &column : columns) {
    if (column && column->feeding() == Feeding::Rows)
      rows = &*column;
    if (column && column->feeding() == Feeding::Entries)
      entries = &*column;
  }
  if (rows && entries)
    problems.add(entries->flag(), ": has shape ", shapeText(entries->source().dims()),
                 ", one entry per step, but ", rows->flag(), " has samples, ",
                 program.batch * program.accumulation.micro_steps,
                 " per step. Give one tensor for all steps, or give every input one entry per "
                 "step, with the axis of steps before the model's shape");
  const bool isAnyBound = std::any_of(columns.begin(), columns.end(),
                                      [](const auto &each) { return each.has_value(); });
  how = entries ? Feeding::Entries : rows || !isAnyBound ? Feeding::Rows : Feeding::Whole;
}

void Dataset::countRows(Problems &problems) {
  const DataColumn *shortest = nullptr;
  for (const auto &column : columns)
    if (column && column->feeding() != Feeding::Whole &&
        (!shortest || column->items() < shortest->items()))
      shortest = &*column;
  rowCount = shortest ? shortest->items() : batch();
  const char *kind = how == Feeding::Entries ? " entries" : " rows";
  for (const auto &column : columns) {
    if (!column || column->feeding() == Feeding::Whole || column->items() == rowCount)
      continue;
    problems.add(column->flag(), ": has ", column->items(), kind, ", but ", shortest->flag(),
                 " has ", rowCount);
  }
}

/// Returns whether two inputs are sequences of the same shape.
static bool sameShape(const MtcInput &one, const MtcInput &other) {
  return one.tensor.rank > 0 && shapeOf(one.tensor) == shapeOf(other.tensor);
}

/// Compares labels with the tokens of each integer input of the same shape. Labels of cross-entropy
/// may repeat the tokens in a copying task, so repetition is only a warning there: causal-lm was
/// probably intended.
void Dataset::checkLanguage(Problems &problems) {
  const std::string_view loss = program.loss;
  if (loss != "causal-lm" && loss != "cross-entropy")
    return;
  for (size_t label = 0; label < columns.size(); ++label)
    for (size_t i = 0; i < columns.size(); ++i) {
      const MtcInput &labels = program.inputs[label], &tokens = program.inputs[i];
      if (!labels.is_label || !columns[label] || i == label || !columns[i] ||
          !isInteger(tokens.tensor.type) || !sameShape(labels, tokens))
        continue;
      problems.collect([&] {
        if (loss == "causal-lm")
          checkNextTokens(tokens, *columns[i], labels, *columns[label]);
        else if (labelsRepeatTokens(tokens, *columns[i], labels, *columns[label]))
          warningText =
              text(columns[label]->flag(), ": each label is the value of ", columns[i]->flag(),
                   " at its own position. Where the model is to predict the next token, "
                   "compile with --loss causal-lm");
      });
    }
}

Dataset::Dataset(const MtcProgram &program, const Flags &flags, bool labelsOptional,
                 std::string flagName, const DataTransforms &transforms)
    : program(program), flagName(std::move(flagName)), seed(transforms.seed),
      workers(std::make_unique<ReadWorkers>(transforms.readThreads)), columns(program.input_count),
      labelsOfStream(program.input_count) {
  Problems problems;
  checkNames(flags, problems);
  bind(flags, labelsOptional, transforms, problems);
  problems.throwIfAny();
  chooseFeeding(problems);
  problems.throwIfAny();
  countRows(problems);
  problems.throwIfAny();
  if (!labelsOptional)
    checkLanguage(problems);
  problems.throwIfAny();
}

/// Computes the labels of input `i`, which has no file of its own: the next tokens without padding,
/// or ignored labels.
void Dataset::makeLabels(size_t i, const std::vector<char *> &buffers) {
  const MtcInput &labels = program.inputs[i];
  const auto from = static_cast<size_t>(labels.shifted_from);
  if (labels.shifted_from < 0 || !columns[from])
    return fillIgnored(labels, labels.tensor.rank ? labels.tensor.dims[0] : 1, buffers[i]);
  if (!columns[i])
    shiftTokens(program.inputs[from], buffers[from], labels, buffers[i]);
  if (const int32_t mask = findPaddingMask(program, labels); mask >= 0)
    ignorePadding(program.inputs[mask], buffers[static_cast<size_t>(mask)], labels, buffers[i]);
  if (!hasRange(labels))
    return;
  const int64_t count = labels.tensor.bytes / typeBytes(labels.tensor.type);
  if (std::optional<WrongValue> wrong = findWrongValue(labels, buffers[i], count))
    userError(columns[from]->flag(), ": holds the token ", wrong->value, ", as a label of which ",
              labels.user, " takes ", rangeText(labels));
}

void Dataset::sampleByWeights(const std::string &file) {
  if (how == Feeding::Whole)
    userError("--sample-weights ", file, ": each step reads the same data, which has no samples");
  sampling = std::make_unique<WeightedSampler>(samplerOfFile(file, rowCount));
}

void Dataset::balanceClasses() {
  std::vector<size_t> labels;
  for (size_t i = 0; i < columns.size(); ++i)
    if (const MtcInput &input = program.inputs[i];
        input.is_label && hasRange(input) && columns[i] && columns[i]->feeding() == Feeding::Rows &&
        columns[i]->elementsOfItem() == 1)
      labels.push_back(i);
  if (labels.size() != 1)
    userError("--balance-classes: the program has ", labels.size(),
              " inputs with one class for each sample, expected one; --sample-weights FILE sets "
              "weights of samples");
  sampling = std::make_unique<WeightedSampler>(
      samplerOfClasses(program.inputs[labels.front()], *columns[labels.front()]));
}

void Dataset::load(const Batch &batch, const std::vector<char *> &buffers) {
  assert(static_cast<int64_t>(batch.rows.size()) == this->batch() &&
         "a batch has the rows of a step");
  static constexpr int64_t theOnly = 0;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i] && columns[i]->feeding() == Feeding::Whole)
      columns[i]->load(&theOnly, 1, buffers[i]);
    else if (columns[i])
      columns[i]->load(batch.rows.data(), this->batch(), buffers[i], {seed, batch.position});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i] && program.inputs[i].is_of_outputs)
      std::memset(buffers[i], 0, static_cast<size_t>(program.inputs[i].tensor.bytes));
    else if (!columns[i] || labelsOfStream[i])
      makeLabels(i, buffers);
    if (program.inputs[i].is_label)
      fillIgnored(program.inputs[i], batch.filler, buffers[i]);
  }
}

} // namespace mtc::runtime
