// Whether the processor can run the code of a program.
#ifndef MTC_RUNTIME_DEVICES_CPU_PROCESSOR_H
#define MTC_RUNTIME_DEVICES_CPU_PROCESSOR_H

#include "runtime/abi/cpu.h"

#include <functional>
#include <string>

namespace mtc::runtime {

/// Returns whether the machine's processor has a feature of `runtime/abi/processor.h`.
bool processorHas(const std::string &feature);

/// Returns why a processor cannot run code that was compiled for `processor` (the value of --cpu)
/// and uses `features`, LLVM names separated by commas; empty if it can. `has` returns whether the
/// processor has a feature.
std::string refuseProcessor(const std::string &processor, const std::string &features,
                            const std::function<bool(const std::string &)> &has);

/// Throws a system error if the machine's processor lacks a feature that the kernels use.
void checkProcessor(const MtcCpuProgram &program);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_PROCESSOR_H
