// Temporary files without a name.
#ifndef MTC_RUNTIME_IO_UNNAMED_FILE_H
#define MTC_RUNTIME_IO_UNNAMED_FILE_H

#include <string>

namespace mtc::runtime {

/// Creates a file without a name in the folder, for reading and writing, with the additional flags
/// of open(2), and returns its descriptor. The file disappears however the process ends. Returns -1
/// and sets errno if that is impossible.
int openUnnamedFile(const std::string &folder, int flags = 0);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_UNNAMED_FILE_H
