// Merges adapters chunk by chunk.
#include "runtime/state/exported_values.h"

#include "runtime/state/module_tensors.h"
#include "runtime/state/value_reader.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

static constexpr int64_t maxChunk = 4 << 20;

/// Reads the value from which a matrix in compressed storage was made.
void ExportedValues::readInitial(uint32_t variable, const Device::Use &use) {
  ValueReader reader(weights.values(), variable, valueOf(program, variable).type);
  std::vector<char> chunk(static_cast<size_t>(std::min(maxChunk, reader.bytes())));
  for (int64_t at = 0; at < reader.bytes(); at += maxChunk) {
    const int64_t count = std::min(maxChunk, reader.bytes() - at);
    reader.read(chunk.data(), at, count);
    use(chunk.data(), at, count);
  }
}

void ExportedValues::read(uint32_t variable, const Device::Use &use) {
  const bool isAdapted = adapters.prepare(variable);
  std::vector<char> merged;
  auto useChunk = [&](const char *from, int64_t at, int64_t bytes) {
    if (!isAdapted)
      return use(from, at, bytes);
    merged.assign(from, from + bytes);
    adapters.merge(at, merged.data(), bytes);
    use(merged.data(), at, bytes);
  };
  // Arenas in memory are read in one piece.
  auto split = [&](const char *from, int64_t at, int64_t bytes) {
    for (int64_t begin = 0; begin < bytes; begin += maxChunk)
      useChunk(from + begin, at + begin, std::min(maxChunk, bytes - begin));
  };
  if (program.variables[variable].source)
    return readInitial(variable, split);
  if (!finite.read(program, device, variable, split))
    stopDiverged(text("after the last step, '", program.variables[variable].tensor.name,
                      "' holds values that are not finite"),
                 path + " was not written");
}

std::vector<char> ExportedValues::value(uint32_t variable) {
  std::vector<char> whole(static_cast<size_t>(valueOf(program, variable).bytes));
  read(variable, [&](const char *from, int64_t at, int64_t bytes) {
    std::memcpy(whole.data() + at, from, static_cast<size_t>(bytes));
  });
  return whole;
}

} // namespace mtc::runtime
