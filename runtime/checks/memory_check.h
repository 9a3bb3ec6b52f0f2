// Memory checks of a program compiled with --check-memory: operations write only their results and
// read only live values.
#ifndef MTC_RUNTIME_CHECKS_MEMORY_CHECK_H
#define MTC_RUNTIME_CHECKS_MEMORY_CHECK_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Compares the arena with a shadow copy after each operation; only the ranges that the operation
/// declares as written may differ. Dead bytes, between values and after the last use of a value,
/// are filled with ones, which is a NaN in every floating-point type. A result that contains this
/// NaN was computed from dead bytes, or not written. The run ends at the first error with the
/// kernel or call, the node and the affected values. The checks double the memory of the arena and
/// read the whole arena after each operation.
class MemoryCheck final : public Observer {
public:
  MemoryCheck(const MtcProgram &program, Device &device, int64_t arenaBytes);

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  bool looksAtArena() const override { return true; }
  void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) override;

private:
  struct Range {
    int64_t begin, end;
  };
  /// A value and the range that it occupies at some operation.
  struct Holder {
    Range range;
    std::string name;
  };

  const MtcFunction &functionOf(const MtcOperation &operation) const;
  void refresh(const Range &range);
  void checkComputed(const OperationInfo &operation, const MtcWrite &write);
  void compare(const OperationInfo &operation);
  void bury(const MtcFunction &function, const OperationInfo &operation);
  void fill(const Range &range);
  std::vector<Range> livingAfter(const MtcFunction &function, int64_t number) const;
  std::vector<Holder> holdersAfter(const MtcFunction &function, int64_t number) const;
  std::string describe(const MtcFunction &function, int64_t number, int64_t byte) const;

  const MtcProgram &program;
  Device &device;
  std::vector<char> copy;       ///< expected contents of the arena
  std::vector<Range> permanent; ///< address ranges of variables and inputs
  std::vector<Range> staged;    ///< staging buffers of the next batch
  bool isPrepared = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CHECKS_MEMORY_CHECK_H
