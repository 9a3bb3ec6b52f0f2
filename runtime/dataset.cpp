// Binding of --data to the program's inputs, and labels made from tokens.
#include "runtime/dataset.h"

#include "runtime/closest_name.h"
#include "runtime/element_type.h"
#include "runtime/failure.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace mtc::runtime {

using Flags = std::vector<std::pair<std::string, std::string>>;

static std::string flagOf(const std::string &name, const std::string &file) {
  return "--data " + name + "=" + file;
}

static void checkNames(const MtcProgram &program, const Flags &flags, Problems &problems) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < program.input_count; ++i)
    names.emplace_back(program.inputs[i].tensor.name);
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    if (std::find(names.begin(), names.end(), flag->first) == names.end()) {
      std::string list;
      for (const std::string &name : names)
        list += (list.empty() ? "" : ", ") + name;
      problems.add(flagOf(flag->first, flag->second), ": the program has no input '", flag->first,
                   "'", suggestion(flag->first, names), "; its inputs are ", list);
    }
    if (std::find_if(flags.begin(), flag, [&](const auto &f) { return f.first == flag->first; }) !=
        flag)
      problems.add(flagOf(flag->first, flag->second), ": '", flag->first, "' is given twice");
  }
}

/// A column whose type and shape are wrong, or whose file cannot be read, is a problem for the
/// list.
void Dataset::bind(const Flags &flags, bool labelsOptional, Problems &problems) {
  auto fileOf = [&](const MtcInput &input) -> const std::string * {
    for (const auto &[name, file] : flags)
      if (name == input.tensor.name)
        return &file;
    return nullptr;
  };
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    const MtcInput *tokens =
        input.shifted_from >= 0 ? &program.inputs[input.shifted_from] : nullptr;
    const std::string *file = fileOf(input), *tokensFile = tokens ? fileOf(*tokens) : nullptr;
    std::string flag = file ? flagOf(input.tensor.name, *file) : "";
    problems.collect([&] {
      if (file) {
        DataFile opened = openDataFile(input.tensor.name, *file);
        // Labels of a token stream are its next tokens.
        int64_t shift = tokens && opened.isStream ? 1 : 0;
        columns[i].emplace(input, flag, std::move(opened), shift);
      } else if (tokensFile) {
        flag = flagOf(tokens->tensor.name, *tokensFile);
        // A file that cannot be opened is reported where the tokens are bound.
        if (tokensFile->size() > 4 && tokensFile->compare(tokensFile->size() - 4, 4, ".bin") == 0 &&
            !labelsOptional)
          columns[i].emplace(input, flag + " (for '" + input.tensor.name + "')",
                             openDataFile(input.tensor.name, *tokensFile), 1);
      } else if (!tokens && !(labelsOptional && input.is_label)) {
        std::vector<int64_t> dims = shapeOf(input.tensor);
        std::string shape = "[rows";
        for (size_t d = 1; d < dims.size(); ++d)
          shape += ", " + std::to_string(dims[d]);
        problems.add("--data ", input.tensor.name,
                     "=FILE is missing: ", typeName(input.tensor.type), " ", shape, "]");
      }
    });
  }
}

Dataset::Dataset(const MtcProgram &program, const Flags &flags, bool labelsOptional)
    : program(program), columns(program.input_count) {
  Problems problems;
  checkNames(program, flags, problems);
  bind(flags, labelsOptional, problems);
  problems.throwIfAny();

  const DataColumn *shortest = nullptr;
  for (const auto &column : columns)
    if (column && (!shortest || column->rows() < shortest->rows()))
      shortest = &*column;
  rowCount = shortest ? shortest->rows() : program.batch;
  for (const auto &column : columns) {
    // The last row of a token stream may lack the label that follows it.
    bool spareTokens = column && column->source().isStream && shortest->source().isStream &&
                       column->source().array.file->path() == shortest->source().array.file->path();
    if (column && column->rows() != rowCount && !spareTokens)
      problems.add(column->flag(), ": has ", column->rows(), " rows, but ", shortest->flag(),
                   " has ", rowCount);
  }
  problems.throwIfAny();
}

/// Fills labels with what losses ignore.
static void fillIgnored(const MtcInput &input, char *to) {
  if (input.tensor.type == MTC_I64)
    std::fill_n(reinterpret_cast<int64_t *>(to), input.tensor.bytes / 8, input.ignored);
  else if (input.tensor.type == MTC_I32)
    std::fill_n(reinterpret_cast<int32_t *>(to), input.tensor.bytes / 4,
                static_cast<int32_t>(input.ignored));
  else
    std::memset(to, 0, static_cast<size_t>(input.tensor.bytes));
}

template <typename To, typename From>
static void shiftRows(const char *tokens, char *labels, int64_t rows, int64_t length,
                      int64_t ignored) {
  auto *from = reinterpret_cast<const From *>(tokens);
  auto *to = reinterpret_cast<To *>(labels);
  for (int64_t row = 0; row < rows; ++row, from += length, to += length) {
    std::copy(from + 1, from + length, to);
    to[length - 1] = static_cast<To>(ignored);
  }
}

/// labels[b, t] = tokens[b, t + 1]; the last of each row is ignored.
static void shiftTokens(const MtcTensor &tokens, const char *from, const MtcInput &input,
                        char *to) {
  const MtcTensor &labels = input.tensor;
  int64_t rows = labels.dims[0],
          length = labels.bytes / typeBytes(labels.type) / std::max<int64_t>(rows, 1);
  if (length == 0)
    return;
  if (labels.type == MTC_I64 && tokens.type == MTC_I64)
    shiftRows<int64_t, int64_t>(from, to, rows, length, input.ignored);
  else if (labels.type == MTC_I64 && tokens.type == MTC_I32)
    shiftRows<int64_t, int32_t>(from, to, rows, length, input.ignored);
  else if (labels.type == MTC_I32 && tokens.type == MTC_I32)
    shiftRows<int32_t, int32_t>(from, to, rows, length, input.ignored);
  else
    assert(false && "labels are at least as wide as the tokens that they are made of");
}

void Dataset::load(const std::vector<int64_t> &rows, const std::vector<char *> &places) {
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    assert(static_cast<int64_t>(rows.size()) == input.tensor.dims[0] &&
           "a batch has the program's rows");
    if (columns[i])
      columns[i]->load(rows.data(), static_cast<int64_t>(rows.size()), places[i]);
    else if (input.shifted_from < 0 || !columns[static_cast<size_t>(input.shifted_from)])
      fillIgnored(input, places[i]);
  }
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    if (!columns[i] && input.shifted_from >= 0 && columns[static_cast<size_t>(input.shifted_from)])
      shiftTokens(program.inputs[input.shifted_from].tensor,
                  places[static_cast<size_t>(input.shifted_from)], input, places[i]);
  }
}

} // namespace mtc::runtime
