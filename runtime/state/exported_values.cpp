// Merges adapters chunk by chunk.
#include "runtime/state/exported_values.h"

#include "runtime/state/module_tensors.h"
#include "runtime/support/failure.h"

#include <cstring>

namespace mtc::runtime {

void ExportedValues::read(uint32_t variable, const Device::Use &use) const {
  if (program.variables[variable].source) {
    std::vector<char> value = initialValue(program, variable, threads, weights);
    const auto bytes = static_cast<int64_t>(value.size());
    adapters.merge(variable, 0, value.data(), bytes);
    return use(value.data(), 0, bytes);
  }
  std::vector<char> merged;
  auto merge = [&](const char *from, int64_t at, int64_t bytes) {
    merged.assign(from, from + bytes);
    adapters.merge(variable, at, merged.data(), bytes);
    use(merged.data(), at, bytes);
  };
  if (!finite.read(program, device, variable, merge))
    stopDiverged(text("after the last step, '", program.variables[variable].tensor.name,
                      "' holds values that are not finite"),
                 path + " was not written");
}

std::vector<char> ExportedValues::value(uint32_t variable) const {
  std::vector<char> whole(static_cast<size_t>(valueOf(program, variable).bytes));
  read(variable, [&](const char *from, int64_t at, int64_t bytes) {
    std::memcpy(whole.data() + at, from, static_cast<size_t>(bytes));
  });
  return whole;
}

} // namespace mtc::runtime
