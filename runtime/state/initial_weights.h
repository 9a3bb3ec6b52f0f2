// Weights files that a run starts from.
#ifndef MTC_RUNTIME_STATE_INITIAL_WEIGHTS_H
#define MTC_RUNTIME_STATE_INITIAL_WEIGHTS_H

#include "runtime/devices/device.h"
#include "runtime/state/initial_values.h"
#include "runtime/state/named_weights.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Selects the weights of a run.
struct WeightsChoice {
  std::string file;          ///< file or folder of --weights; "": that of the program
  std::string programFolder; ///< folder of the program's own weights
  int threads = 1;           ///< number of threads that compute values
  bool isQuiet = false;      ///< suppresses notes and progress bars
  uint64_t seed = 0;         ///< of initial values that are drawn
};

/// Returns the path of the weights that the user chose: `given`, the value of --weights, or that
/// with which the program was compiled; "" if there is neither.
std::string initialWeightsPath(const MtcProgram &program, const std::string &given,
                               const std::string &programFolder);

/// The initial values of a program's variables, from weights files that stay open: files that are
/// replaced during the run do not change them.
class InitialWeights {
public:
  /// Opens the files, before memory is allocated for the program. Throws a user error that lists
  /// every missing tensor and every mismatch of type or shape. With `keepTrained` (before
  /// resuming), parameters and state are not required, because a checkpoint provides them.
  InitialWeights(const MtcProgram &program, const WeightsChoice &choice, bool keepTrained);
  InitialWeights(const InitialWeights &) = delete;
  InitialWeights &operator=(const InitialWeights &) = delete;

  /// Initializes all variables of a device whose arena is zeroed, in memory of a few MiB in
  /// addition to the arena's.
  void initialize(Device &device) const;

  const InitialValues &values() const { return *initial; }
  /// Returns whether exports show no progress bar either.
  bool isQuiet() const { return choice.isQuiet; }
  /// Returns the user's weights, whose names exports preserve; null if there are none, or if they
  /// lack a tensor that a checkpoint has.
  const NamedWeights *exportedNames() const;

private:
  const NamedWeights *chosenWeights() const { return chosen ? &*chosen : nullptr; }
  void openChosen();
  bool needsChosen() const;
  void requireOwn() const;
  void check(bool isUsed) const;

  const MtcProgram &program;
  WeightsChoice choice;
  std::vector<uint32_t> variables; ///< that are initialized
  std::optional<NamedWeights> chosen, own;
  std::optional<InitialValues> initial;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_INITIAL_WEIGHTS_H
