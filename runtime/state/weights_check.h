// Checks of a weights file against the variables of a program. Except for constants, they read only
// the headers of files.
#ifndef MTC_RUNTIME_STATE_WEIGHTS_CHECK_H
#define MTC_RUNTIME_STATE_WEIGHTS_CHECK_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

class NamedWeights;
class Problems;
struct ArrayOnDisk;
struct FoundTensor;

/// Returns why a tensor of a file cannot be the variable's value; "" if it can.
std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found);

/// Adds a problem for each of these tensors of a variable that has another type or shape than the
/// program expects. Returns whether there is none.
bool checkTensors(const MtcProgram &program, const NamedWeights &weights, uint32_t variable,
                  const std::vector<FoundTensor> &found, Problems &problems);

/// Checks the tensors of a variable under all of its names.
bool checkVariable(const MtcProgram &program, const NamedWeights &weights, uint32_t variable,
                   Problems &problems);

/// Adds a problem for each tensor of the variable that the file lacks. `unknown` are names in the
/// file to suggest.
void addMissing(const NamedWeights &weights, uint32_t variable,
                const std::vector<std::string> &unknown, Problems &problems);

/// Returns the tensors of the file that the program does not have, except those that no program
/// uses: PyTorch's batch counters, and the optimizer state of checkpoints.
std::vector<std::string> unusedTensors(const NamedWeights &weights);

/// A tensor whose value is part of a program.
struct ProgramConstant {
  MtcTensor tensor;
  const char *data; ///< null if it is unknown
};

/// The part of a program that is known before its code is generated.
struct WeightsRequest {
  /// The variables and buffers, without offsets.
  const MtcProgram &program;
  std::string path; ///< the file, index or folder of weights
  /// Returns whether the file must have a variable.
  std::function<bool(uint32_t)> isRequired;
  /// Returns the constant of the program with this name, if there is one.
  std::function<std::optional<ProgramConstant>(const std::string &)> constant;
  /// Returns whether the user permits the file to have a tensor that the program does not use.
  std::function<bool(const std::string &)> isIgnored;
};

/// Returns a message for each problem: files that cannot be read, missing tensors, tensors of other
/// types or shapes, constants with other values, and tensors that the program does not use.
std::vector<std::string> checkWeights(const WeightsRequest &request);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_WEIGHTS_CHECK_H
