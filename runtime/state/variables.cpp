// Initial values: data of the program, the weights file, or random.
#include "runtime/state/variables.h"

#include "runtime/state/frozen_matrix.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/bfloat16.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/half_floats.h"
#include "runtime/support/parallel_ranges.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <vector>

namespace mtc::runtime {

bool isSaved(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_STATE ||
         variable.role == MTC_OPTIMIZER || variable.role == MTC_AVERAGE;
}

void readArray(const ArrayOnDisk &array, int64_t at, char *to, int64_t bytes) {
  array.file->read(array.offset + at, to, bytes);
}

std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found) {
  if (found.type == expected.type && found.dims == shapeOf(expected))
    return "";
  return text("is ", typeName(found.type), " ", shapeText(found.dims), "; the program expects ",
              typeName(expected.type), " ", shapeText(shapeOf(expected)));
}

/// Fills `bytes` of the variable with random numbers, from byte `at` on, which starts a group of
/// four elements.
template <typename Element, typename Convert>
static void fillRandom(const MtcVariable &variable, char *to, int64_t at, int64_t bytes,
                       int threads, const Convert &convert) {
  auto *elements = reinterpret_cast<Element *>(to);
  constexpr auto size = static_cast<int64_t>(sizeof(Element));
  const int64_t count = bytes / size, firstGroup = at / (4 * size);
  const uint64_t name = hashName(variable.tensor.name);
  const auto samplesOf = variable.initial == MTC_INITIAL_NORMAL ? normals : evenSamples;
  onRanges(threads, (count + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      auto samples = samplesOf(0, name, static_cast<uint64_t>(firstGroup + group));
      for (int64_t i = 4 * group; i < std::min(4 * group + 4, count); ++i)
        elements[i] = convert(samples[static_cast<size_t>(i % 4)] * variable.spread);
    }
  });
}

static void fillRandom(const MtcVariable &variable, uint32_t type, char *to, int64_t at,
                       int64_t bytes, int threads) {
  auto fill = [&]<typename Element>(Element, const auto &convert) {
    fillRandom<Element>(variable, to, at, bytes, threads, convert);
  };
  switch (type) {
  case MTC_F64:
    return fill(double(), [](double v) { return v; });
  case MTC_F32:
    return fill(float(), [](double v) { return static_cast<float>(v); });
  case MTC_BF16:
    return fill(uint16_t(), [](double v) { return toBf16(static_cast<float>(v)); });
  case MTC_F16:
    return fill(_Float16(), [](double v) { return static_cast<_Float16>(v); });
  default:
    assert(false && "only floating variables are random");
  }
}

/// Fills `bytes` from byte `at` on with one element again and again; `at` starts an element.
static void fillSplat(const MtcVariable &variable, char *to, int64_t bytes) {
  const auto size = typeBytes(variable.tensor.type);
  for (int64_t at = 0; at < bytes; at += size)
    std::memcpy(to + at, variable.data, static_cast<size_t>(size));
}

/// Whether a value of one type is made of another when it is read: exactly, or rounded where it is
/// not trained.
static bool isConverted(uint32_t from, uint32_t to, uint32_t role) {
  auto isNarrow = [](uint32_t type) { return type == MTC_BF16 || type == MTC_F16; };
  return (isNarrow(from) && to == MTC_F32) ||
         ((from == MTC_F32 || isNarrow(from)) && isNarrow(to) && role == MTC_CONSTANT);
}

/// Reads bytes of a value of this type from a tensor of another, from byte `at` of the value on.
static void readConverted(const ArrayOnDisk &array, uint32_t type, int64_t at, char *to,
                          int64_t bytes) {
  if (array.type == type)
    return readArray(array, at, to, bytes);
  const int64_t size = typeBytes(type), found = typeBytes(array.type), total = bytes / size;
  constexpr int64_t most = 1 << 18; // elements at a time
  std::vector<char> read(static_cast<size_t>(std::min(most, total) * found));
  std::vector<float> values(static_cast<size_t>(std::min(most, total)));
  for (int64_t done = 0; done < total; done += most) {
    const int64_t count = std::min(most, total - done);
    readArray(array, (at / size + done) * found, read.data(), count * found);
    if (array.type == MTC_F32)
      std::memcpy(values.data(), read.data(), static_cast<size_t>(count * found));
    else
      widenFloats(array.type, read.data(), count, values.data());
    if (type == MTC_F32)
      std::memcpy(to + done * size, values.data(), static_cast<size_t>(count * size));
    else
      narrowFloats(type, values.data(), count, to + done * size);
  }
}

/// The tensor of a variable: under its ONNX name, or that of the user's module.
static const ArrayOnDisk *findTensor(const SafetensorsFile &file, const MtcVariable &variable) {
  const ArrayOnDisk *found = file.find(variable.tensor.name);
  return found ? found : file.find(variable.module_name);
}

/// The file beside the program, which must be the one that it was compiled with: under the same
/// name there may be the weights of another compilation.
static SafetensorsFile openOwnWeights(const MtcProgram &program, const std::string &folder) {
  const std::string path = folder + "/" + program.weights_file;
  std::optional<SafetensorsFile> file;
  try {
    file.emplace(path);
  } catch (const Failure &failure) {
    throw Failure(failure.exitCode(),
                  text(failure.what(), "\nThe initial weights are expected beside the program; "
                                       "--weights FILE names another file."));
  }
  if (std::string found = file->metadata(MTC_WEIGHTS_DIGEST); found != program.weights_digest)
    userError(path, ": these are not the weights that the program was compiled with (digest ",
              found.empty() ? "none" : found, ", expected ", program.weights_digest,
              "); compile the model again, or start from them all the same with --weights ", path);
  return std::move(*file);
}

/// The file that a run takes initial values from, if it needs one.
static std::optional<SafetensorsFile> openWeights(const MtcProgram &program,
                                                  const WeightsChoice &choice, bool isNeeded) {
  std::optional<SafetensorsFile> file;
  if (!choice.file.empty())
    file.emplace(choice.file);
  else if (isNeeded)
    file = openOwnWeights(program, choice.programFolder);
  return file;
}

namespace {

/// Values that variables start with.
class InitialValues {
public:
  InitialValues(const std::optional<SafetensorsFile> &file, bool isChosen, int threads)
      : file(file), isChosen(isChosen), threads(threads) {}

  /// What the file has of a variable; null where it starts as something else.
  const ArrayOnDisk *find(const MtcVariable &variable) const {
    const bool isOverridable =
        variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN || variable.role == MTC_STATE;
    return variable.initial == MTC_INITIAL_FILE || (isChosen && isOverridable)
               ? findTensor(*file, variable)
               : nullptr;
  }

  /// Fills `bytes` of the value, whose elements are of this type, from byte `at` on.
  void fill(const MtcVariable &variable, uint32_t type, char *to, int64_t at, int64_t bytes) const {
    if (const ArrayOnDisk *found = find(variable))
      return readConverted(*found, type, at, to, bytes);
    switch (variable.initial) {
    case MTC_INITIAL_DATA:
      std::memcpy(to, static_cast<const char *>(variable.data) + at, static_cast<size_t>(bytes));
      return;
    case MTC_INITIAL_NORMAL:
    case MTC_INITIAL_UNIFORM:
      return fillRandom(variable, type, to, at, bytes, threads);
    case MTC_INITIAL_SPLAT:
      return fillSplat(variable, to, bytes);
    default:
      return;
    }
  }

  bool fills(const MtcVariable &variable) const {
    return find(variable) || variable.initial == MTC_INITIAL_DATA ||
           variable.initial == MTC_INITIAL_NORMAL || variable.initial == MTC_INITIAL_UNIFORM ||
           variable.initial == MTC_INITIAL_SPLAT;
  }

  /// What a variable is stored of.
  std::vector<char> source(const MtcVariable &variable) const {
    const MtcTensor &tensor = *variable.source;
    std::vector<char> value(static_cast<size_t>(tensor.bytes));
    fill(variable, tensor.type, value.data(), 0, tensor.bytes);
    return value;
  }

private:
  const std::optional<SafetensorsFile> &file;
  bool isChosen;
  int threads;
};

} // namespace

/// Why the file cannot give a variable its value; "" if it can, or need not.
static std::string problemOf(const std::optional<SafetensorsFile> &file,
                             const InitialValues &values, const MtcVariable &variable,
                             const MtcTensor &tensor) {
  MtcTensor expected = tensor;
  if (const ArrayOnDisk *found = values.find(variable)) {
    if (isConverted(found->type, tensor.type, variable.role))
      expected.type = found->type;
    const std::string why = mismatch(expected, *found);
    return why.empty() ? "" : text(file->path(), ": tensor '", expected.name, "' ", why);
  }
  if (variable.initial != MTC_INITIAL_FILE)
    return "";
  return text(file->path(), ": tensor '", expected.name, "' is missing; the program expects ",
              typeName(expected.type), " ", shapeText(shapeOf(expected)));
}

void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const WeightsChoice &choice, bool keepTrained) {
  const bool isChosen = !choice.file.empty();
  auto skipped = [&](const MtcVariable &v) { return keepTrained && isSaved(v); };
  const bool isNeeded = std::any_of(
      program.variables, program.variables + program.variable_count,
      [&](const MtcVariable &v) { return v.initial == MTC_INITIAL_FILE && !skipped(v); });
  const std::optional<SafetensorsFile> file = openWeights(program, choice, isNeeded);
  const InitialValues values(file, isChosen, threads);
  Problems problems;
  bool usesFile = false;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (skipped(variable))
      continue;
    usesFile |= values.find(variable) != nullptr;
    const StoredVariable kept(program, i);
    const MtcTensor tensor = variable.source ? *variable.source : kept.tensor();
    if (std::string problem = problemOf(file, values, variable, tensor); !problem.empty()) {
      problems.add(problem);
      continue;
    }
    if (!values.fills(variable))
      continue;
    if (!variable.source) {
      kept.write(device, [&](char *to, int64_t at, int64_t bytes) {
        values.fill(variable, tensor.type, to, at, bytes);
      });
      continue;
    }
    const std::vector<char> stored = storeFrozen(variable, values.source(variable), threads);
    device.write(placeOf(variable.tensor), variable.tensor.bytes,
                 [&](char *to, int64_t at, int64_t bytes) {
                   std::memcpy(to, stored.data() + at, static_cast<size_t>(bytes));
                 });
  }
  if (isChosen && !usesFile && !problems.any())
    problems.add(file->path(), ": holds none of the program's parameters");
  problems.throwIfAny();
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE && variable.initial == MTC_INITIAL_PARAMETER &&
        !skipped(variable))
      StoredVariable(program, static_cast<uint32_t>(variable.of))
          .copyTo(device, placeOf(variable.tensor));
  }
}

std::vector<char> initialValue(const MtcProgram &program, const MtcVariable &variable, int threads,
                               const WeightsChoice &choice) {
  const std::optional<SafetensorsFile> file =
      openWeights(program, choice, variable.initial == MTC_INITIAL_FILE);
  const InitialValues values(file, !choice.file.empty(), threads);
  if (std::string problem = problemOf(file, values, variable, *variable.source); !problem.empty())
    userError(problem);
  return values.source(variable);
}

} // namespace mtc::runtime
