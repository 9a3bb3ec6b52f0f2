// Initial values: data of the program, the weights file, or drawn.
#include "runtime/variables.h"

#include "runtime/element_type.h"
#include "runtime/failure.h"
#include "runtime/parallel.h"
#include "runtime/philox.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <optional>

namespace mtc::runtime {

bool isSaved(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_STATE ||
         variable.role == MTC_OPTIMIZER;
}

void readArray(const ArrayOnDisk &array, char *to, int64_t bytes) {
  array.file->read(array.offset, to, bytes);
}

std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found) {
  if (found.type == expected.type && found.dims == shapeOf(expected))
    return "";
  return text("is ", typeName(found.type), " ", shapeText(found.dims), "; the program expects ",
              typeName(expected.type), " ", shapeText(shapeOf(expected)));
}

/// f32 to bf16, to nearest, ties to even (the value is finite).
static uint16_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename Element, typename Convert>
static void drawNormal(const MtcVariable &variable, char *to, int threads, const Convert &convert) {
  auto *elements = reinterpret_cast<Element *>(to);
  const int64_t count = variable.tensor.bytes / static_cast<int64_t>(sizeof(Element));
  const uint64_t name = hashName(variable.tensor.name);
  parallelFor(threads, (count + 3) / 4, 4096, [&](int, int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      auto samples = normals(0, name, static_cast<uint64_t>(group));
      for (int64_t i = 4 * group; i < std::min(4 * group + 4, count); ++i)
        elements[i] = convert(samples[static_cast<size_t>(i % 4)] * variable.deviation);
    }
  });
}

static void drawNormal(const MtcVariable &variable, char *to, int threads) {
  switch (variable.tensor.type) {
  case MTC_F64:
    return drawNormal<double>(variable, to, threads, [](double v) { return v; });
  case MTC_F32:
    return drawNormal<float>(variable, to, threads, [](double v) { return static_cast<float>(v); });
  case MTC_BF16:
    return drawNormal<uint16_t>(variable, to, threads,
                                [](double v) { return toBf16(static_cast<float>(v)); });
  case MTC_F16:
    return drawNormal<_Float16>(variable, to, threads,
                                [](double v) { return static_cast<_Float16>(v); });
  default:
    assert(false && "only floating variables are drawn");
  }
}

/// The tensor of a variable: under its ONNX name, or that of the user's module.
static const ArrayOnDisk *findTensor(const SafetensorsFile &file, const MtcVariable &variable) {
  const ArrayOnDisk *found = file.find(variable.tensor.name);
  return found ? found : file.find(variable.module_name);
}

void initializeVariables(const MtcProgram &program, char *arena, int threads,
                         const std::string &weights, const std::string &programFolder,
                         bool keepTrained) {
  const bool chosen = !weights.empty();
  bool needed = chosen;
  auto skipped = [&](const MtcVariable &v) { return keepTrained && isSaved(v); };
  for (uint32_t i = 0; i < program.variable_count; ++i)
    needed |= program.variables[i].initial == MTC_INITIAL_FILE && !skipped(program.variables[i]);
  std::optional<SafetensorsFile> file;
  if (needed) {
    try {
      file.emplace(chosen ? weights : programFolder + "/" + program.weights_file);
    } catch (const Failure &failure) {
      throw Failure(
          failure.exitCode(),
          text(failure.what(), chosen ? ""
                                      : "\nThe initial weights are expected beside the program; "
                                        "--weights FILE names another place."));
    }
  }

  Problems problems;
  int64_t used = 0;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (skipped(variable))
      continue;
    char *to = arena + variable.tensor.offset;
    bool overridable = variable.role == MTC_PARAMETER || variable.role == MTC_STATE;
    const ArrayOnDisk *found = variable.initial == MTC_INITIAL_FILE || (chosen && overridable)
                                   ? findTensor(*file, variable)
                                   : nullptr;
    if (found) {
      std::string why = mismatch(variable.tensor, *found);
      if (why.empty())
        readArray(*found, to, variable.tensor.bytes);
      else
        problems.add(file->path(), ": tensor '", variable.tensor.name, "' ", why);
      ++used;
    } else if (variable.initial == MTC_INITIAL_FILE) {
      problems.add(file->path(), ": tensor '", variable.tensor.name,
                   "' is missing; the program expects ", typeName(variable.tensor.type), " ",
                   shapeText(shapeOf(variable.tensor)));
    } else if (variable.initial == MTC_INITIAL_DATA) {
      std::memcpy(to, variable.data, static_cast<size_t>(variable.tensor.bytes));
    } else if (variable.initial == MTC_INITIAL_NORMAL) {
      drawNormal(variable, to, threads);
    }
  }
  if (chosen && used == 0 && !problems.any())
    problems.add(file->path(), ": holds none of the program's parameters");
  problems.throwIfAny();
}

} // namespace mtc::runtime
