// Rows, shapes, and the contents of batches.
#include "runtime/data/dataset.h"

#include "runtime/data/label_fill.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/next_token_check.h"
#include "runtime/data/value_conversion.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

namespace mtc::runtime {

bool Dataset::sameShape(const MtcInput &one, const MtcInput &other) {
  return one.tensor.rank > 0 && shapeOf(one.tensor) == shapeOf(other.tensor);
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
  InputLengths lengths;
  for (const std::optional<RaggedColumn> &column : ragged)
    lengths.push_back(column ? std::optional(column->lengths()) : std::nullopt);
  rowShapes.emplace(shapes, usable, std::move(lengths), rowCount, canMask(program), problems);
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
  allocateSources();
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

/// Allocates memory for inputs that the pipeline stage does not read, if it reads labels that are
/// derived from them.
void Dataset::allocateSources() {
  sources.resize(program.input_count);
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &labels = program.inputs[i];
    if (labels.tensor.offset < 0 || !labels.is_label)
      continue;
    for (const int32_t source : {labels.shifted_from, findPaddingMask(program, labels)})
      if (source >= 0 && program.inputs[source].tensor.offset < 0)
        sources[static_cast<size_t>(source)].resize(
            static_cast<size_t>(program.inputs[source].tensor.bytes));
  }
}

/// Sets the addresses to which the inputs are read.
void Dataset::choosePlaces(const std::vector<char *> &buffers) {
  places = buffers;
  for (size_t i = 0; i < places.size(); ++i)
    if (!places[i] && !sources[i].empty())
      places[i] = sources[i].data();
}

void Dataset::load(const Batch &batch, const std::vector<char *> &buffers) {
  static constexpr int64_t theOnly = 0;
  const MtcProgram &shaped = tablesOf(batch);
  const auto rows = static_cast<int64_t>(batch.rows.size());
  assert(rows == batchOf(shaped.batch) && "a batch has the rows of its shape");
  choosePlaces(buffers);
  for (size_t i = 0; i < columns.size(); ++i)
    if (!places[i])
      continue;
    else if (ragged[i])
      ragged[i]->load(batch.rows.data(), rows, shaped.inputs[i], places[i]);
    else if (maskedBy[i] >= 0)
      fillMask(i, batch, shaped.inputs[i], places[i]);
    else if (columns[i] && columns[i]->feeding() == Feeding::Whole)
      columns[i]->load(&theOnly, 1, places[i]);
    else if (columns[i])
      columns[i]->load(batch.rows.data(), rows, places[i], {seed, batch.position});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!places[i])
      continue;
    const MtcInput &input = shaped.inputs[i];
    const bool isRead = columns[i] || ragged[i] || maskedBy[i] >= 0;
    if (!isRead && input.is_of_outputs)
      std::memset(places[i], 0, static_cast<size_t>(input.tensor.bytes));
    else if (!isRead || labelsOfStream[i])
      makeLabels(i, batch, shaped, places);
    excludeSamples(input, batch.filler, places[i]);
  }
}

} // namespace mtc::runtime
