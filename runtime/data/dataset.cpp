// Binds --data or --validate to the program's inputs.
#include "runtime/data/dataset.h"

#include "runtime/abi/input_names.h"
#include "runtime/data/class_names.h"
#include "runtime/data/label_fill.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/next_token_check.h"
#include "runtime/data/value_conversion.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"
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

/// Returns whether two inputs are sequences of the same shape.
static bool sameShape(const MtcInput &one, const MtcInput &other) {
  return one.tensor.rank > 0 && shapeOf(one.tensor) == shapeOf(other.tensor);
}

/// Returns whether input `i` is a padding mask that has no file, and is computed from the lengths
/// of a ragged input with its shape.
bool Dataset::findMasked(const std::vector<Source> &sources, size_t i) {
  if (std::string_view(program.inputs[i].tensor.name) != paddingMaskName)
    return false;
  for (size_t other = 0; other < sources.size() && maskedBy[i] < 0; ++other)
    if (sources[other].file && sources[other].file->isRagged() &&
        sameShape(program.inputs[other], program.inputs[i]) && !program.inputs[other].is_label)
      maskedBy[i] = static_cast<int32_t>(other);
  return maskedBy[i] >= 0;
}

/// Labels images by their folders: sets the source of an input of classes that has no file.
void Dataset::labelImages(const Flags &flags, std::vector<Source> &sources, Problems &problems) {
  const auto images = std::find_if(sources.begin(), sources.end(), [](const Source &each) {
    return each.file && each.file->images && !each.file->images->classes().empty();
  });
  if (images == sources.end())
    return;
  for (size_t i = 0; i < sources.size(); ++i) {
    const MtcInput &input = program.inputs[i];
    if (!input.is_label || fileOf(flags, input) || input.tensor.rank != 1 ||
        !isInteger(input.tensor.type))
      continue;
    classNames = images->file->images->classes();
    sources[i] = {labelsOf(*images->file->images), images->flag, {}};
    if (hasRange(input) && std::ssize(classNames) > input.limit)
      problems.add(images->flag, ": has ", classNames.size(), " classes; ", input.user, " takes ",
                   rangeText(input));
  }
}

/// Names the classes of labels that `python -m mtc.data` has written, if only one input has
/// classes.
void Dataset::nameClasses(const Flags &flags, Problems &problems) {
  const auto isClasses = [](const MtcInput &input) {
    return input.is_label && isInteger(input.tensor.type);
  };
  const MtcInput *end = program.inputs + program.input_count;
  const MtcInput *labels = std::find_if(program.inputs, end, isClasses);
  if (labels == end || std::find_if(labels + 1, end, isClasses) != end)
    return;
  const std::string name = labels->tensor.name;
  if (const std::string *file = fileOf(flags, *labels))
    problems.collect([&] { nameTableClasses(*file, name, flagOf(name, *file), classNames); });
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
        sources[i] = {
            openDataFile(input, *file, flagName, classNames), flagOf(input.tensor.name, *file), {}};
      });
  }
  if (!labelsOptional)
    labelImages(flags, sources, problems);
  nameClasses(flags, problems);
  for (size_t i = 0; i < columns.size(); ++i) {
    const MtcInput &input = program.inputs[i];
    if (!fileOf(flags, input) && !sources[i].file && input.shifted_from < 0 &&
        !isLossWeights(input) && !(labelsOptional ? input.is_label : input.is_of_outputs) &&
        !findMasked(sources, i))
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
      if (source.file->isRagged() && normalization == transforms.normalizations.end() &&
          augmentation == transforms.augmentations.end()) {
        ragged[i].emplace(input, source.flag, std::move(*source.file));
        return;
      }
      if (source.file->isRagged())
        userError(source.flag, ": has rows of different lengths, which are not normalized or "
                               "augmented");
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
  auto isBound = [](const auto &each) { return each.has_value(); };
  const bool hasRagged = std::any_of(ragged.begin(), ragged.end(), isBound),
             isAnyBound = std::any_of(columns.begin(), columns.end(), isBound);
  how = entries                            ? Feeding::Entries
        : rows || hasRagged || !isAnyBound ? Feeding::Rows
                                           : Feeding::Whole;
}

void Dataset::countRows(Problems &problems) {
  const DataColumn *shortest = nullptr;
  for (const auto &column : columns)
    if (column && column->feeding() != Feeding::Whole &&
        (!shortest || column->items() < shortest->items()))
      shortest = &*column;
  const RaggedColumn *anyRagged = nullptr;
  for (const auto &column : ragged)
    if (column && (!anyRagged || column->rows() < anyRagged->rows()))
      anyRagged = &*column;
  if (anyRagged)
    return countRaggedRows(*anyRagged, problems);
  rowCount = shortest ? shortest->items() : batch();
  const char *kind = how == Feeding::Entries ? " entries" : " rows";
  for (const auto &column : columns) {
    if (!column || column->feeding() == Feeding::Whole || column->items() == rowCount)
      continue;
    problems.add(column->flag(), ": has ", column->items(), kind, ", but ", shortest->flag(),
                 " has ", rowCount);
  }
}

/// Counts the rows of data with ragged columns, of which `shortest` has the fewest rows.
void Dataset::countRaggedRows(const RaggedColumn &shortest, Problems &problems) {
  rowCount = shortest.rows();
  auto check = [&](const std::string &flag, int64_t rows) {
    if (rows != rowCount)
      problems.add(flag, ": has ", rows, " rows, but ", shortest.flag(), " has ", rowCount);
  };
  for (const auto &column : columns)
    if (column && column->feeding() == Feeding::Entries)
      problems.add(column->flag(), ": has one entry per step, but ", shortest.flag(),
                   " has rows of different lengths");
    else if (column && column->feeding() == Feeding::Rows)
      check(column->flag(), column->items());
  for (const auto &column : ragged)
    if (column)
      check(column->flag(), column->rows());
}

/// Returns whether an input has samples of the same extents in two shapes.
static bool sameSamples(const MtcInput &one, const MtcInput &other) {
  std::vector<int64_t> a = shapeOf(one.tensor), b = shapeOf(other.tensor);
  if (!one.is_whole && !a.empty() && a.size() == b.size())
    a.front() = b.front();
  return a == b;
}

/// Determines the shapes in which the inputs with rows of one length fit, and those that the rows
/// of the others need.
void Dataset::chooseShapes(bool usesFirstShape, Problems &problems) {
  if (program.shape_count == 0 || how != Feeding::Rows)
    return;
  std::vector<size_t> usable;
  for (size_t shape = 0; shape < shapes.all().size(); ++shape) {
    const MtcInput *inputs = shapes.all()[shape].inputs;
    bool fits = !usesFirstShape || inputs == program.shapes[0].inputs;
    for (size_t i = 0; i < columns.size(); ++i)
      fits &= !columns[i] || sameSamples(inputs[i], program.inputs[i]);
    if (fits)
      usable.push_back(shape);
  }
  if (usable.size() < shapes.all().size() && !usesFirstShape)
    warningTexts.push_back(text(flagName, ": inputs whose rows have one length use ", usable.size(),
                                " of the ", shapes.all().size(),
                                " shapes of the program; rows of different lengths use all "
                                "(a .safetensors file with 'values' and 'offsets')"));
  rowShapes.emplace(shapes, usable, ragged, rowCount, canMask(program), problems);
  if (!rowShapes->warning().empty())
    warningTexts.push_back(rowShapes->warning());
}

std::optional<double> Dataset::meanLength() const {
  for (const auto &column : ragged)
    if (column)
      return static_cast<double>(column->values()) / static_cast<double>(column->rows());
  return std::nullopt;
}

/// Marks the values of each row by ones, and its padding by zeros.
void Dataset::fillMask(size_t i, const Batch &batch, const MtcInput &input, char *to) const {
  const RaggedColumn &masked = *ragged[static_cast<size_t>(maskedBy[i])];
  const int64_t length = input.tensor.dims[1], rowBytes = length * typeBytes(input.tensor.type);
  std::vector<char> marks(static_cast<size_t>(length));
  for (size_t row = 0; row < batch.rows.size(); ++row) {
    const auto valid = static_cast<size_t>(masked.lengthOf(batch.rows[row]));
    std::fill(marks.begin(), marks.end(), 0);
    std::fill_n(marks.begin(), valid, 1);
    convertValues(MTC_U8, marks.data(), length, input.tensor.type,
                  to + static_cast<int64_t>(row) * rowBytes);
  }
}

/// Ignores the labels whose next token is padding.
void Dataset::ignorePaddedLabels(size_t tokens, const Batch &batch, const MtcInput &labels,
                                 char *to) const {
  const int64_t length = labels.tensor.dims[1];
  for (size_t row = 0; row < batch.rows.size(); ++row) {
    const int64_t first = std::max<int64_t>(ragged[tokens]->lengthOf(batch.rows[row]) - 1, 0);
    ignoreLabels(labels, static_cast<int64_t>(row) * length + first, length - first, to);
  }
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
      if (labels.is_label && i != label && isInteger(tokens.tensor.type) &&
          sameShape(labels, tokens))
        problems.collect([&] { checkLabels(label, i); });
    }
}

/// Returns the sequences of an input that has a file, and of which no row is padded.
static std::optional<TokenRows> rowsOf(const MtcInput &input,
                                       const std::optional<DataColumn> &column,
                                       const std::optional<RaggedColumn> &ragged) {
  if (column)
    return TokenRows{input, column->flag(), column->items(), [&](int64_t row) {
                       const int64_t bytes =
                           column->elementsOfItem() * typeBytes(input.tensor.type);
                       std::vector<char> values(static_cast<size_t>(bytes));
                       column->load(&row, 1, values.data());
                       return values;
                     }};
  if (ragged)
    return TokenRows{input, ragged->flag(), ragged->rows(),
                     [&](int64_t row) { return ragged->valuesOf(row, input); }};
  return std::nullopt;
}

void Dataset::checkLabels(size_t labels, size_t tokens) {
  const std::optional<TokenRows> wanted =
      rowsOf(program.inputs[labels], columns[labels], ragged[labels]);
  const std::optional<TokenRows> read =
      rowsOf(program.inputs[tokens], columns[tokens], ragged[tokens]);
  if (!wanted || !read)
    return;
  if (std::string_view(program.loss) == "causal-lm")
    checkNextTokens(*read, *wanted);
  else if (labelsRepeatTokens(*read, *wanted))
    warningTexts.push_back(
        text(wanted->flag, ": each label is the value of ", read->flag,
             " at its own position. Where the model is to predict the next token, compile with "
             "--loss causal-lm"));
}

Dataset::Dataset(const MtcProgram &program, const Flags &flags, bool labelsOptional,
                 std::string flagName, const DataTransforms &transforms)
    : program(program), flagName(std::move(flagName)), seed(transforms.seed),
      workers(std::make_unique<ReadWorkers>(transforms.readThreads)), columns(program.input_count),
      ragged(program.input_count), maskedBy(program.input_count, -1),
      labelsOfStream(program.input_count), shapes(program), classNames(transforms.classes) {
  Problems problems;
  checkNames(flags, problems);
  bind(flags, labelsOptional, transforms, problems);
  problems.throwIfAny();
  chooseFeeding(problems);
  problems.throwIfAny();
  countRows(problems);
  problems.throwIfAny();
  chooseShapes(transforms.usesFirstShape, problems);
  problems.throwIfAny();
  if (!labelsOptional)
    checkLanguage(problems);
  problems.throwIfAny();
}

/// Computes the labels of input `i`, which has no file of its own: the next tokens without padding,
/// weights of 1, or ignored labels.
void Dataset::makeLabels(size_t i, const Batch &batch, const MtcProgram &shaped,
                         const std::vector<char *> &buffers) {
  const MtcInput &labels = shaped.inputs[i];
  if (isLossWeights(labels))
    return fillLossWeights(labels, buffers[i]);
  const auto from = static_cast<size_t>(labels.shifted_from);
  if (labels.shifted_from < 0 || (!columns[from] && !ragged[from]))
    return fillIgnored(labels, labels.tensor.rank ? labels.tensor.dims[0] : 1, buffers[i]);
  if (!columns[i])
    shiftTokens(shaped.inputs[from], buffers[from], labels, buffers[i]);
  if (ragged[from])
    ignorePaddedLabels(from, batch, labels, buffers[i]);
  if (const int32_t mask = findPaddingMask(shaped, labels); mask >= 0)
    ignorePadding(shaped.inputs[mask], buffers[static_cast<size_t>(mask)], labels, buffers[i]);
  if (!hasRange(labels))
    return;
  const int64_t count = labels.tensor.bytes / typeBytes(labels.tensor.type);
  if (std::optional<WrongValue> wrong = findWrongValue(labels, buffers[i], count))
    userError(ragged[from] ? ragged[from]->flag() : columns[from]->flag(), ": holds the token ",
              wrong->value, ", as a label of which ", labels.user, " takes ", rangeText(labels));
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
  static constexpr int64_t theOnly = 0;
  const MtcProgram &shaped = tablesOf(batch);
  const auto rows = static_cast<int64_t>(batch.rows.size());
  assert(rows == batchOf(shaped.batch) && "a batch has the rows of its shape");
  for (size_t i = 0; i < columns.size(); ++i)
    if (ragged[i])
      ragged[i]->load(batch.rows.data(), rows, shaped.inputs[i], buffers[i]);
    else if (maskedBy[i] >= 0)
      fillMask(i, batch, shaped.inputs[i], buffers[i]);
    else if (columns[i] && columns[i]->feeding() == Feeding::Whole)
      columns[i]->load(&theOnly, 1, buffers[i]);
    else if (columns[i])
      columns[i]->load(batch.rows.data(), rows, buffers[i], {seed, batch.position});
  for (size_t i = 0; i < columns.size(); ++i) {
    const MtcInput &input = shaped.inputs[i];
    const bool isRead = columns[i] || ragged[i] || maskedBy[i] >= 0;
    if (!isRead && input.is_of_outputs)
      std::memset(buffers[i], 0, static_cast<size_t>(input.tensor.bytes));
    else if (!isRead || labelsOfStream[i])
      makeLabels(i, batch, shaped, buffers);
    excludeSamples(input, batch.filler, buffers[i]);
  }
}

} // namespace mtc::runtime
