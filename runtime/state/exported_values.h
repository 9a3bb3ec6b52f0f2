// Values of variables for exports.
#ifndef MTC_RUNTIME_STATE_EXPORTED_VALUES_H
#define MTC_RUNTIME_STATE_EXPORTED_VALUES_H

#include "runtime/state/adapter_merger.h"
#include "runtime/state/divergence.h"
#include "runtime/state/initial_weights.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The current values of a program's variables, with adapters merged into their base weights.
/// Frozen matrices in compressed storage have their initial values.
class ExportedValues {
public:
  /// `path` is the output file, for messages.
  ExportedValues(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 const InitialWeights &weights, const std::string &path)
      : program(program), device(device), finite(finite), weights(weights), path(path),
        adapters(program, device, finite, path) {}

  /// Passes a value to `use` in chunks of a few MiB that cover each element once, in order. Throws
  /// a system error if the value is not finite but has to be.
  void read(uint32_t variable, const Device::Use &use);
  /// Returns all bytes of a value.
  std::vector<char> value(uint32_t variable);

private:
  void readInitial(uint32_t variable, const Device::Use &use);

  const MtcProgram &program;
  Device &device;
  const FiniteVariables &finite;
  const InitialWeights &weights;
  const std::string &path;
  AdapterMerger adapters;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORTED_VALUES_H
