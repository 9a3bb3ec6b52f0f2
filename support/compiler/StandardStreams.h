//===- StandardStreams.h - Detection of failed writes to standard output ----------------------===//

#ifndef MTC_SUPPORT_COMPILER_STANDARDSTREAMS_H
#define MTC_SUPPORT_COMPILER_STANDARDSTREAMS_H

namespace mtc::tool {

/// Must be called first in `main`. Afterwards, on any exit of the process:
/// - If standard output could not be written (disk full, closed pipe, closed descriptor), the
///   process prints a message and exits with code 2 instead of success.
/// - Descriptors of closed standard streams stay reserved, so no opened file gets their number.
/// `tool`, the name in messages, must remain valid.
void guardStandardStreams(const char *tool);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_STANDARDSTREAMS_H
