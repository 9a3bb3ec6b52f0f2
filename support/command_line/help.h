// The text of --help and --help-all.
#ifndef MTC_SUPPORT_COMMAND_LINE_HELP_H
#define MTC_SUPPORT_COMMAND_LINE_HELP_H

#include "support/command_line/flag.h"

namespace mtc::command_line {

/// Returns the flags under the headings of their groups, in the order in which the groups first
/// appear. Shows only common flags, or every flag with its choices if `showsAll`.
std::string describeFlags(const std::vector<Flag> &flags, bool showsAll);

} // namespace mtc::command_line

#endif // MTC_SUPPORT_COMMAND_LINE_HELP_H
