// The rate of the offload disk beside the plan's.
#ifndef MTC_RUNTIME_LOOP_DISK_RATE_H
#define MTC_RUNTIME_LOOP_DISK_RATE_H

#include "runtime/abi/program.h"
#include "runtime/devices/device.h"

#include <string>

namespace mtc::runtime {

/// Returns a one-line note if the copies of a step took much longer than the plan assumes; ""
/// otherwise. `traffic` is that of the step.
std::string describeSlowDisk(const MtcProgram &program, const DiskTraffic &traffic);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_DISK_RATE_H
