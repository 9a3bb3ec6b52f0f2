// Values are random, stored in the program, or tensors of a weights file.
#include "runtime/state/initial_values.h"

#include "runtime/state/matrix_norms.h"
#include "runtime/state/module_tensors.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"
#include "runtime/support/parallel_ranges.h"
#include "runtime/support/philox.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace mtc::runtime {

std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found) {
  if (found.type == expected.type && found.dims == shapeOf(expected))
    return "";
  return text("is ", typeName(found.type), " ", shapeText(found.dims), "; the program expects ",
              typeName(expected.type), " ", shapeText(shapeOf(expected)));
}

/// Fills `bytes` bytes of the variable with random numbers, from byte `at` on, the start of a group
/// of four elements.
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
  withFloat(type, [&](auto format) {
    fillRandom<typename decltype(format)::Stored>(
        variable, to, at, bytes, threads, [&](double value) { return format.round(value); });
  });
}

/// Fills `bytes` bytes with copies of one element; the range starts at an element.
static void fillSplat(const MtcVariable &variable, char *to, int64_t bytes) {
  const auto size = typeBytes(variable.tensor.type);
  for (int64_t at = 0; at < bytes; at += size)
    std::memcpy(to + at, variable.data, static_cast<size_t>(size));
}

/// Returns whether a value of one type is converted to another when it is read: exactly, or with
/// rounding if it is not trained.
static bool isConverted(uint32_t from, uint32_t to, uint32_t role) {
  return (mtc_is_narrow_float(from) && to == MTC_F32) ||
         ((from == MTC_F32 || mtc_is_narrow_float(from)) && mtc_is_narrow_float(to) &&
          role == MTC_CONSTANT);
}

/// Reads bytes of a value, from its byte `at` on, with conversion from the tensor's type to `type`.
static void readConverted(const ArrayOnDisk &array, uint32_t type, int64_t at, char *to,
                          int64_t bytes) {
  if (array.type == type)
    return readArray(array, at, to, bytes);
  const int64_t size = typeBytes(type), found = typeBytes(array.type), total = bytes / size;
  constexpr int64_t maximum = 1 << 18; // elements per chunk
  std::vector<char> read(static_cast<size_t>(std::min(maximum, total) * found));
  std::vector<float> values(static_cast<size_t>(std::min(maximum, total)));
  for (int64_t done = 0; done < total; done += maximum) {
    const int64_t count = std::min(maximum, total - done);
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

const std::vector<FoundTensor> &InitialValues::find(uint32_t variable) const {
  static const std::vector<FoundTensor> none;
  if (chosen && !chosen->of(variable).empty())
    return chosen->of(variable);
  const MtcVariable &described = program.variables[variable];
  const bool takesOwn =
      described.initial == MTC_INITIAL_FILE && (!chosen || described.role == MTC_CONSTANT);
  return takesOwn && own ? own->of(variable) : none;
}

bool InitialValues::needsOwn(uint32_t variable) const {
  const MtcVariable &described = program.variables[variable];
  return described.initial == MTC_INITIAL_FILE &&
         (!chosen || (described.role == MTC_CONSTANT && chosen->of(variable).empty()));
}

bool InitialValues::fills(uint32_t variable) const {
  const uint32_t initial = program.variables[variable].initial;
  return !find(variable).empty() || initial == MTC_INITIAL_DATA || initial == MTC_INITIAL_NORMAL ||
         initial == MTC_INITIAL_UNIFORM || initial == MTC_INITIAL_SPLAT ||
         initial == MTC_INITIAL_ADAPTED_NORMS;
}

void InitialValues::fill(uint32_t variable, uint32_t type, char *to, int64_t at,
                         int64_t bytes) const {
  const MtcVariable &described = program.variables[variable];
  if (const std::vector<FoundTensor> &found = find(variable); !found.empty()) {
    assert(isWhole(found.front().image) && "other images are read as a whole");
    return readConverted(*found.front().array, type, at, to, bytes);
  }
  switch (described.initial) {
  case MTC_INITIAL_DATA:
    std::memcpy(to, static_cast<const char *>(described.data) + at, static_cast<size_t>(bytes));
    return;
  case MTC_INITIAL_NORMAL:
  case MTC_INITIAL_UNIFORM:
    return fillRandom(described, type, to, at, bytes, threads);
  case MTC_INITIAL_SPLAT:
    return fillSplat(described, to, bytes);
  case MTC_INITIAL_ADAPTED_NORMS:
    return fillAdaptedNorms(variable, type, to, at, bytes);
  default:
    return;
  }
}

/// Fills `bytes` bytes with the norms of the adapted matrix, whose update is zero before training
/// begins.
void InitialValues::fillAdaptedNorms(uint32_t variable, uint32_t type, char *to, int64_t at,
                                     int64_t bytes) const {
  const MtcAdapter *adapter = std::find_if(
      program.adapters, program.adapters + program.adapter_count,
      [&](const MtcAdapter &each) { return each.magnitude == static_cast<int32_t>(variable); });
  const auto base = static_cast<uint32_t>(adapter->base);
  const std::vector<double> norms = normsOver(adapter->axis, valueOf(program, base), value(base));
  const int64_t first = at / typeBytes(type);
  withFloat(type, [&](auto format) {
    using Stored = typename decltype(format)::Stored;
    const auto count = bytes / static_cast<int64_t>(sizeof(Stored));
    for (int64_t i = 0; i < count; ++i) {
      const Stored norm = format.round(norms[static_cast<size_t>(first + i)]);
      std::memcpy(to + i * static_cast<int64_t>(sizeof(Stored)), &norm, sizeof norm);
    }
  });
}

std::vector<char> InitialValues::assemble(const MtcTensor &value,
                                          const std::vector<FoundTensor> &found) {
  std::vector<char> whole(static_cast<size_t>(value.bytes));
  for (const FoundTensor &tensor : found) {
    if (isWhole(tensor.image)) {
      readConverted(*tensor.array, value.type, 0, whole.data(), value.bytes);
      continue;
    }
    const int64_t size = typeBytes(value.type);
    std::vector<char> elements(static_cast<size_t>(*elementCount(tensor.array->dims, size) * size));
    readConverted(*tensor.array, value.type, 0, elements.data(),
                  static_cast<int64_t>(elements.size()));
    takeImage(*tensor.image, value.type, elements, whole.data());
  }
  return whole;
}

std::vector<char> InitialValues::value(uint32_t variable) const {
  const MtcTensor described = valueOf(program, variable);
  const std::vector<FoundTensor> &found = find(variable);
  if (!found.empty() && !isWhole(found.front().image))
    return assemble(described, found);
  std::vector<char> whole(static_cast<size_t>(described.bytes));
  fill(variable, described.type, whole.data(), 0, described.bytes);
  return whole;
}

bool InitialValues::isStreamed(uint32_t variable) const {
  const std::vector<FoundTensor> &found = find(variable);
  return found.empty() || isWhole(found.front().image);
}

/// Returns why a tensor of a file does not match a variable or its image; "" if it does.
static std::string problemOf(const std::string &path, const MtcTensor &value, uint32_t role,
                             const FoundTensor &found) {
  MtcTensor expected = value;
  if (isConverted(found.array->type, value.type, role))
    expected.type = found.array->type;
  std::string why = mismatch(expected, *found.array);
  if (found.image && !(isWhole(found.image) && why.empty()))
    why = mismatch(tensorOf(expected, *found.image), *found.array);
  return why.empty() ? "" : text(path, ": tensor '", found.name, "' ", why);
}

void InitialValues::check(uint32_t variable, Problems &problems) const {
  const MtcVariable &described = program.variables[variable];
  const MtcTensor value = valueOf(program, variable);
  bool isValid = true;
  auto checkAll = [&](const NamedWeights &weights, const std::vector<FoundTensor> &all) {
    for (const FoundTensor &found : all)
      if (std::string problem = problemOf(weights.file().path(), value, described.role, found);
          !problem.empty()) {
        problems.add(problem);
        isValid = false;
      }
  };
  const std::vector<FoundTensor> &found = find(variable);
  const NamedWeights *weights = chosen ? chosen : own;
  if (!found.empty()) {
    weights = chosen && !chosen->of(variable).empty() ? chosen : own;
    checkAll(*weights, found);
  } else if (described.initial == MTC_INITIAL_FILE) {
    for (const auto &[name, tensor] : weights->missing(variable))
      problems.add(weights->file().path(), ": tensor '", name, "' is missing; the program expects ",
                   typeName(tensor.type), " ", shapeText(shapeOf(tensor)),
                   terminal::suggestNames(name, unknown));
  }
  if (!chosen || chosen->repeated(variable).empty())
    return;
  for (const std::vector<FoundTensor> &other : chosen->repeated(variable))
    checkAll(*chosen, other);
  if (!isValid)
    return;
  const std::vector<char> first = assemble(value, found);
  for (const std::vector<FoundTensor> &other : chosen->repeated(variable))
    if (assemble(value, other) != first)
      problems.add(chosen->file().path(), ": tensors '", found.front().name, "' and '",
                   other.front().name, "' differ, but the program has one parameter for both; ",
                   "expected equal tensors, or a file with one of them");
}

} // namespace mtc::runtime
