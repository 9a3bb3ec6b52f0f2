// Initial values of variables.
#ifndef MTC_RUNTIME_STATE_INITIAL_VALUES_H
#define MTC_RUNTIME_STATE_INITIAL_VALUES_H

#include "runtime/state/named_weights.h"
#include "runtime/support/failure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Computes the values of a program's variables before its first step. Constants that the chosen
/// weights lack are read from the program's own weights file.
class InitialValues {
public:
  /// `chosen` is the file of --weights, `own` the weights file of the program; null if it is not
  /// read.
  InitialValues(const MtcProgram &program, const NamedWeights *chosen, const NamedWeights *own,
                uint64_t seed, int threads)
      : program(program), chosen(chosen), own(own), seed(seed), threads(threads) {
    if (chosen)
      unknown = chosen->unknown();
  }

  /// Returns the tensors with the variable's initial value; empty if the value has another source.
  const std::vector<FoundTensor> &find(uint32_t variable) const;
  /// Returns whether the value is read from the program's own weights file.
  bool needsOwn(uint32_t variable) const;
  /// Returns whether the variable has an initial value other than zeros.
  bool fills(uint32_t variable) const;
  /// Adds a problem if the variable requires a value from the weights files and they do not have
  /// it.
  void check(uint32_t variable, Problems &problems) const;
  /// Writes `bytes` bytes of a value that is not read from a file, from byte `at` on, as elements
  /// of `type`. Random values are computed in groups of four elements, with which the range must
  /// start.
  void compute(uint32_t variable, uint32_t type, char *to, int64_t at, int64_t bytes) const;
  const MtcProgram &getProgram() const { return program; }
  /// Returns the names in the chosen weights that the program does not know.
  const std::vector<std::string> &unknownNames() const { return unknown; }

private:
  void fillAdaptedNorms(uint32_t variable, uint32_t type, char *to, int64_t at,
                        int64_t bytes) const;
  bool areEqual(const MtcTensor &value, const std::vector<FoundTensor> &one,
                const std::vector<FoundTensor> &other) const;

  const MtcProgram &program;
  const NamedWeights *chosen, *own;
  uint64_t seed; ///< of random values
  int threads;
  std::vector<std::string> unknown;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_INITIAL_VALUES_H
