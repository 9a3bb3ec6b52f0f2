// Recognizes files that mtc, or a program that it compiled, wrote.
#ifndef MTC_SUPPORT_FILES_WRITTEN_BY_MTC_H
#define MTC_SUPPORT_FILES_WRITTEN_BY_MTC_H

#include <string>

namespace mtc::files {

/// Returns whether a regular file has a mark of runtime/abi/file_marks.h, is a weights file of the
/// compiler, or starts with a line of --metrics, which has no mark because each line is a step.
/// Returns false if the file cannot be read. Executables are recognized by the compiler only.
bool isWrittenByMtc(const std::string &path);

} // namespace mtc::files

#endif // MTC_SUPPORT_FILES_WRITTEN_BY_MTC_H
