//===- StandardStreams.h - Standard output that is known to have been written -----------------===//

#ifndef MTC_TOOLS_SUPPORT_STANDARDSTREAMS_H
#define MTC_TOOLS_SUPPORT_STANDARDSTREAMS_H

namespace mtc::tool {

/// To be called first in `main`. From then on, whatever way the process exits:
/// - standard output that could not be written (the disk is full, the reader has gone, it is
///   closed) ends it with exit code 2 and a message instead of success;
/// - a standard stream that is closed stays so: no file that is opened takes its number.
/// `tool`, the name for messages, must stay valid.
void guardStandardStreams(const char *tool);

} // namespace mtc::tool

#endif // MTC_TOOLS_SUPPORT_STANDARDSTREAMS_H
