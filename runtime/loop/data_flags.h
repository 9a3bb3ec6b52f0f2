// The flags that specify the data of a run.
#ifndef MTC_RUNTIME_LOOP_DATA_FLAGS_H
#define MTC_RUNTIME_LOOP_DATA_FLAGS_H

#include "runtime/loop/option_flags.h"

#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// Appends NAME=FILE, or the files of a folder, to the files of a flag such as --data.
void addDataFile(std::vector<std::pair<std::string, std::string>> &files, const FlagValue &value);

/// Returns the flags of the group "Data" in the order of the help.
std::vector<OptionFlag> dataFlags();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_DATA_FLAGS_H
