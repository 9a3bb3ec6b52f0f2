// What variables start as.
#ifndef MTC_RUNTIME_STATE_INITIAL_VALUES_H
#define MTC_RUNTIME_STATE_INITIAL_VALUES_H

#include "runtime/state/named_weights.h"
#include "runtime/support/failure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The values of a program's variables before its first step. Constants that the chosen weights
/// lack come from the program's own.
class InitialValues {
public:
  /// `chosen` are the weights of --weights, `own` those beside the program; null: not read.
  InitialValues(const MtcProgram &program, const NamedWeights *chosen, const NamedWeights *own,
                int threads)
      : program(program), chosen(chosen), own(own), threads(threads) {
    if (chosen)
      unknown = chosen->unknown();
  }

  /// The tensors that a variable starts as; none where it starts as something else.
  const std::vector<FoundTensor> &find(uint32_t variable) const;
  /// Whether the value comes from the program's own weights.
  bool needsOwn(uint32_t variable) const;
  /// Whether there is a value, other than zeros.
  bool fills(uint32_t variable) const;
  /// Adds why the weights cannot give the variable its value, if they have to and cannot.
  void check(uint32_t variable, Problems &problems) const;
  /// Whether `fill` gives the value.
  bool isStreamed(uint32_t variable) const;
  /// Fills `bytes` of the value, whose elements are of this type, from byte `at` on.
  void fill(uint32_t variable, uint32_t type, char *to, int64_t at, int64_t bytes) const;
  /// All bytes of the value.
  std::vector<char> value(uint32_t variable) const;
  /// Names in the chosen weights that the program does not have.
  const std::vector<std::string> &unknownNames() const { return unknown; }

private:
  static std::vector<char> assemble(const MtcTensor &value, const std::vector<FoundTensor> &found);

  const MtcProgram &program;
  const NamedWeights *chosen, *own;
  int threads;
  std::vector<std::string> unknown;
};

/// Why a tensor of a file cannot be the variable's value; "" if it can.
std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_INITIAL_VALUES_H
