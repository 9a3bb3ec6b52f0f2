// Initial values: data of the program, the weights file, or random.
#include "runtime/state/variables.h"

#include "runtime/devices/cpu/convert.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/bfloat16.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>
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

/// Calls `body` on disjoint ranges that cover [0, extent), on threads of their own if there is
/// much.
template <typename Body> static void onThreads(int threads, int64_t extent, const Body &body) {
  constexpr int64_t grain = 4096;
  const int64_t parts = std::clamp<int64_t>(extent / grain, 1, threads);
  auto run = [=, &body](int64_t part) { body(extent * part / parts, extent * (part + 1) / parts); };
  std::vector<std::jthread> running;
  for (int64_t part = 1; part < parts; ++part)
    try {
      running.emplace_back([&run, part] { run(part); });
    } catch (const std::system_error &) {
      run(part); // No thread to be had.
    }
  run(0);
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
  onThreads(threads, (count + 3) / 4, [&](int64_t begin, int64_t end) {
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
  const auto size = static_cast<int64_t>(typeBytes(variable.tensor.type));
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
                          int64_t bytes, int threads) {
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
      widenArray(array.type, read.data(), count, values.data(), threads);
    if (type == MTC_F32)
      std::memcpy(to + done * size, values.data(), static_cast<size_t>(count * size));
    else
      narrowArray(type, values.data(), count, to + done * size, threads);
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

void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const std::string &weights, const std::string &programFolder,
                         bool keepTrained) {
  const bool chosen = !weights.empty();
  bool needed = chosen;
  auto skipped = [&](const MtcVariable &v) { return keepTrained && isSaved(v); };
  for (uint32_t i = 0; i < program.variable_count; ++i)
    needed |= program.variables[i].initial == MTC_INITIAL_FILE && !skipped(program.variables[i]);
  std::optional<SafetensorsFile> file;
  if (chosen)
    file.emplace(weights);
  else if (needed)
    file = openOwnWeights(program, programFolder);

  Problems problems;
  int64_t used = 0;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (skipped(variable))
      continue;
    const StoredVariable stored(program, i);
    const MtcTensor tensor = stored.tensor();
    auto write = [&](const Device::Fill &fill) { stored.write(device, fill); };
    bool overridable =
        variable.role == MTC_PARAMETER || variable.role == MTC_FROZEN || variable.role == MTC_STATE;
    const ArrayOnDisk *found = variable.initial == MTC_INITIAL_FILE || (chosen && overridable)
                                   ? findTensor(*file, variable)
                                   : nullptr;
    if (found) {
      MtcTensor expected = tensor;
      if (isConverted(found->type, tensor.type, variable.role))
        expected.type = found->type;
      std::string why = mismatch(expected, *found);
      if (why.empty())
        write([&](char *to, int64_t at, int64_t bytes) {
          readConverted(*found, tensor.type, at, to, bytes, threads);
        });
      else
        problems.add(file->path(), ": tensor '", variable.tensor.name, "' ", why);
      ++used;
    } else if (variable.initial == MTC_INITIAL_FILE) {
      problems.add(file->path(), ": tensor '", variable.tensor.name,
                   "' is missing; the program expects ", typeName(tensor.type), " ",
                   shapeText(shapeOf(tensor)));
    } else if (variable.initial == MTC_INITIAL_DATA) {
      write([&](char *to, int64_t at, int64_t bytes) {
        std::memcpy(to, static_cast<const char *>(variable.data) + at, static_cast<size_t>(bytes));
      });
    } else if (variable.initial == MTC_INITIAL_NORMAL || variable.initial == MTC_INITIAL_UNIFORM) {
      write([&](char *to, int64_t at, int64_t bytes) {
        fillRandom(variable, tensor.type, to, at, bytes, threads);
      });
    } else if (variable.initial == MTC_INITIAL_SPLAT) {
      write([&](char *to, int64_t, int64_t bytes) { fillSplat(variable, to, bytes); });
    }
  }
  if (chosen && used == 0 && !problems.any())
    problems.add(file->path(), ": holds none of the program's parameters");
  problems.throwIfAny();
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE && variable.initial == MTC_INITIAL_PARAMETER &&
        !skipped(variable))
      StoredVariable(program, static_cast<uint32_t>(variable.of))
          .copyTo(device, variable.tensor.offset);
  }
}

} // namespace mtc::runtime
