// Merging of low-rank adapters into their base weights.
#ifndef MTC_RUNTIME_STATE_ADAPTER_MERGER_H
#define MTC_RUNTIME_STATE_ADAPTER_MERGER_H

#include "runtime/state/divergence.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Adds the updates of adapters to values of their bases, one base after the other, so that only
/// the factors of one adapter are in memory.
class AdapterMerger {
public:
  /// `path` is the output file, for messages.
  AdapterMerger(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                const std::string &path)
      : program(program), device(device), finite(finite), path(path) {}

  /// Reads the factors of a variable's adapter before its value is read, and the value itself if
  /// the adapter has a magnitude. Returns whether there is an adapter. Throws a system error if a
  /// variable of `finite` is not finite.
  bool prepare(uint32_t variable);
  /// Adds the update to the elements of the prepared variable from byte `at` on, the start of an
  /// element, and rescales the sums if the adapter has a magnitude.
  void merge(int64_t at, char *elements, int64_t bytes) const;

private:
  MtcTensor tensorOf(int32_t index) const;
  void read(int32_t index, const Device::Use &use) const;
  std::vector<double> doublesOf(int32_t index) const;
  template <typename Format, typename Use>
  void forEachSum(Format format, int64_t at, const char *elements, int64_t bytes,
                  const Use &use) const;
  void findRatios(const MtcAdapter &adapter);

  const MtcProgram &program;
  Device &device;
  const FiniteVariables &finite;
  const std::string &path;

  int64_t prepared = -1;                   ///< the base
  uint32_t type = 0;                       ///< of the base
  int64_t rank = 0, rows = 0, columns = 0; ///< of the base [rows, columns]
  bool isInputMajor = false;               ///< the base is [in, out]
  double scale = 0;
  std::vector<double> ofRows;    ///< factor [rank, rows]
  std::vector<double> ofColumns; ///< factor [rank, columns]
  std::vector<double> ratios;    ///< by output; empty without a magnitude
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_ADAPTER_MERGER_H
