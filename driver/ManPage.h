//===- ManPage.h - Manual page mtc(1) ---------------------------------------------------------===//

#ifndef MTC_DRIVER_MANPAGE_H
#define MTC_DRIVER_MANPAGE_H

#include <string>

namespace mtc::tool {

/// Returns the page in man(7) macros: commands, all flags with their choices, exit codes.
std::string manualPage();

} // namespace mtc::tool

#endif // MTC_DRIVER_MANPAGE_H
