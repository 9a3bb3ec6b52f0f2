// Checks of a program that was compiled with --check-memory: operations write their results alone,
// and nothing reads what no longer lives.
#ifndef MTC_RUNTIME_CHECKS_MEMORY_CHECK_H
#define MTC_RUNTIME_CHECKS_MEMORY_CHECK_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// After each operation compares the arena with a copy, in which only what the operation says that
/// it writes has changed. Bytes that hold no value, between values and where one was read for the
/// last time, are all ones: a NaN in each type. A result that has this NaN was computed of such
/// bytes, or not written. Ends the run at the first fault, with the kernel or the call, the node
/// and the values that are concerned. Takes as much memory again as the arena has, and for each
/// operation the time to read it.
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
  /// What lies somewhere at a time.
  struct Holder {
    Range range;
    std::string name;
  };

  const MtcFunction &functionOf(const MtcOperation &operation) const;
  void refresh(const Range &range);
  void checkComputed(const OperationInfo &operation, const MtcWrite &write);
  void compare(const OperationInfo &operation);
  void bury(const MtcFunction &function, int64_t number);
  void fill(const Range &range);
  std::vector<Range> livingAfter(const MtcFunction &function, int64_t number) const;
  std::vector<Holder> holdersAfter(const MtcFunction &function, int64_t number) const;
  std::string describe(const MtcFunction &function, int64_t number, int64_t byte) const;

  const MtcProgram &program;
  Device &device;
  std::vector<char> copy;       ///< what the arena must hold
  std::vector<Range> permanent; ///< variables and inputs, by their addresses
  std::vector<Range> staged;    ///< where the next batch is read meanwhile
  bool isPrepared = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CHECKS_MEMORY_CHECK_H
