// Values are random, stored in the program, or tensors of a weights file.
#include "runtime/state/initial_values.h"

#include "runtime/state/matrix_norms.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/tensor_reader.h"
#include "runtime/state/value_reader.h"
#include "runtime/state/variables.h"
#include "runtime/state/weights_check.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"
#include "runtime/support/parallel_ranges.h"
#include "runtime/support/philox.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

/// Calls `use` with chunks of `total` bytes, and memory for each.
template <typename Use> static void forEachChunk(int64_t total, const Use &use) {
  constexpr int64_t maximum = 16 << 20;
  std::vector<char> memory(static_cast<size_t>(std::min(total, maximum)));
  for (int64_t at = 0; at < total; at += maximum)
    use(at, std::min(maximum, total - at), memory);
}

/// Fills `bytes` bytes of the variable with random numbers, from byte `at` on, the start of a group
/// of four elements.
template <typename Element, typename Convert>
static void fillRandom(const MtcVariable &variable, uint64_t seed, char *to, int64_t at,
                       int64_t bytes, int threads, const Convert &convert) {
  auto *elements = reinterpret_cast<Element *>(to);
  constexpr auto size = static_cast<int64_t>(sizeof(Element));
  const int64_t count = bytes / size, firstGroup = at / (4 * size);
  const uint64_t name = hashName(variable.tensor.name);
  const auto samplesOf = variable.initial == MTC_INITIAL_NORMAL ? normals : evenSamples;
  onRanges(threads, (count + 3) / 4, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      auto samples = samplesOf(seed, name, static_cast<uint64_t>(firstGroup + group));
      for (int64_t i = 4 * group; i < std::min(4 * group + 4, count); ++i)
        elements[i] = convert(samples[static_cast<size_t>(i % 4)] * variable.spread);
    }
  });
  if (!variable.data)
    return;
  const auto *zeros = static_cast<const int64_t *>(variable.data);
  for (int64_t i = std::max(zeros[0] - at / size, int64_t{0});
       i < std::min(zeros[1] - at / size, count); ++i)
    elements[i] = convert(0);
}

static void fillRandom(const MtcVariable &variable, uint64_t seed, uint32_t type, char *to,
                       int64_t at, int64_t bytes, int threads) {
  withFloat(type, [&](auto format) {
    fillRandom<typename decltype(format)::Stored>(
        variable, seed, to, at, bytes, threads, [&](double value) { return format.round(value); });
  });
}

/// Fills `bytes` bytes with copies of one element; the range starts at an element.
static void fillSplat(const MtcVariable &variable, uint32_t type, char *to, int64_t bytes) {
  const auto size = typeBytes(type);
  for (int64_t at = 0; at < bytes; at += size)
    std::memcpy(to + at, variable.data, static_cast<size_t>(size));
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

void InitialValues::compute(uint32_t variable, uint32_t type, char *to, int64_t at,
                            int64_t bytes) const {
  const MtcVariable &described = program.variables[variable];
  switch (described.initial) {
  case MTC_INITIAL_DATA:
    std::memcpy(to, static_cast<const char *>(described.data) + at, static_cast<size_t>(bytes));
    return;
  case MTC_INITIAL_NORMAL:
  case MTC_INITIAL_UNIFORM:
    // Values that are not saved are equal in all runs.
    return fillRandom(described, isSaved(described) ? seed : 0, type, to, at, bytes, threads);
  case MTC_INITIAL_SPLAT:
    return fillSplat(described, type, to, bytes);
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
  const MtcTensor matrix = valueOf(program, base);
  MatrixNorms sums(adapter->axis, matrix);
  ValueReader reader(*this, base, matrix.type);
  forEachChunk(matrix.bytes, [&](int64_t begin, int64_t count, std::vector<char> &elements) {
    reader.read(elements.data(), begin, count);
    sums.add(elements.data(), begin, count);
  });
  const std::vector<double> norms = sums.norms();
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

bool InitialValues::areEqual(const MtcTensor &value, const std::vector<FoundTensor> &one,
                             const std::vector<FoundTensor> &other) const {
  const TensorReader first(value, one, ElementOrder::RowMajor),
      second(value, other, ElementOrder::RowMajor);
  const int64_t size = typeBytes(value.type);
  std::vector<char> compared;
  bool areEqual = true;
  forEachChunk(value.bytes, [&](int64_t at, int64_t bytes, std::vector<char> &elements) {
    if (!areEqual)
      return;
    compared.resize(elements.size());
    first.read(value.type, elements.data(), at / size, bytes / size);
    second.read(value.type, compared.data(), at / size, bytes / size);
    areEqual = std::memcmp(elements.data(), compared.data(), static_cast<size_t>(bytes)) == 0;
  });
  return areEqual;
}

void InitialValues::check(uint32_t variable, Problems &problems) const {
  const MtcVariable &described = program.variables[variable];
  const std::vector<FoundTensor> &found = find(variable);
  const bool isChosen = chosen && !chosen->of(variable).empty();
  if (!isChosen && !found.empty())
    checkTensors(program, *own, variable, found, problems);
  else if (!isChosen && described.initial == MTC_INITIAL_FILE)
    addMissing(*(chosen ? chosen : own), variable, unknown, problems);
  if (!isChosen || !checkVariable(program, *chosen, variable, problems))
    return;
  const MtcTensor value = valueOf(program, variable);
  for (const std::vector<FoundTensor> &other : chosen->repeated(variable))
    if (!areEqual(value, found, other))
      problems.add(chosen->file().path(), ": tensors '", found.front().name, "' and '",
                   other.front().name, "' differ, but the program has one parameter for both; ",
                   "expected equal tensors, or a file with one of them");
}

} // namespace mtc::runtime
