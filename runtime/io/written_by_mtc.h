// How a file says that mtc, or a program that it made, wrote it.
#ifndef MTC_RUNTIME_IO_WRITTEN_BY_MTC_H
#define MTC_RUNTIME_IO_WRITTEN_BY_MTC_H

#include <string>

namespace mtc::runtime {

/// Whether a regular file has a mark of runtime/abi/file_marks.h, is a weights file of the
/// compiler, or starts with a line of --metrics, which has no mark: readers expect a step on every
/// line. A file that cannot be read has none. Programs of the compiler are left to the compiler.
bool isWrittenByMtc(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_WRITTEN_BY_MTC_H
