//===- ManPage.h - The manual page mtc(1) -----------------------------------------------------===//

#ifndef MTC_DRIVER_MANPAGE_H
#define MTC_DRIVER_MANPAGE_H

#include <string>

namespace mtc::tool {

/// The page in the man macros of roff (man(7)): commands, every flag with its choices, exit codes.
std::string manualPage();

} // namespace mtc::tool

#endif // MTC_DRIVER_MANPAGE_H
