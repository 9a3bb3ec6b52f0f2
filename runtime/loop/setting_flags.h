// The flags of hyperparameters that a program computes with.
#ifndef MTC_RUNTIME_LOOP_SETTING_FLAGS_H
#define MTC_RUNTIME_LOOP_SETTING_FLAGS_H

#include "runtime/loop/option_flags.h"

#include <vector>

namespace mtc::runtime {

/// Returns a flag for each setting of the program, or for settings that are given together.
std::vector<OptionFlag> settingFlags(const MtcProgram &program);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_SETTING_FLAGS_H
