// Values of variables as exports have them.
#ifndef MTC_RUNTIME_STATE_EXPORTED_VALUES_H
#define MTC_RUNTIME_STATE_EXPORTED_VALUES_H

#include "runtime/state/adapters.h"
#include "runtime/state/divergence.h"
#include "runtime/state/variables.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The values that a program's variables have now, with adapters merged into the weights that they
/// adapt. Of what is stored in fewer bits it is the value that the run started with.
class ExportedValues {
public:
  /// `path` is the file that is written.
  ExportedValues(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 int threads, const WeightsChoice &weights, const std::string &path)
      : program(program), device(device), finite(finite), threads(threads), weights(weights),
        path(path), adapters(program, device, finite, path) {}

  /// Hands a value to `use`, in pieces, each element once, in order. A fault of the system if it is
  /// not finite where it has to be.
  void read(uint32_t variable, const Device::Use &use) const;
  /// All bytes of a value.
  std::vector<char> value(uint32_t variable) const;

private:
  const MtcProgram &program;
  Device &device;
  const FiniteVariables &finite;
  int threads;
  const WeightsChoice &weights;
  const std::string &path;
  AdapterMerger adapters;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_EXPORTED_VALUES_H
