// Binds files to the program's inputs.
#include "runtime/data/dataset.h"

#include "runtime/abi/input_names.h"
#include "runtime/data/class_names.h"
#include "runtime/data/label_fill.h"
#include "runtime/data/value_range.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
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

} // namespace mtc::runtime
