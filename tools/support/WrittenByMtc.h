//===- WrittenByMtc.h - How a file says that mtc wrote it -------------------------------------===//
//
// The mark is inside the file, so that it goes where the file goes: a note in a program (and in the
// archive of its objects), and those of runtime/abi/file_marks.h in what else mtc and its programs
// write.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_TOOLS_SUPPORT_WRITTENBYMTC_H
#define MTC_TOOLS_SUPPORT_WRITTENBYMTC_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mtc::tool {

/// The first line of a text that mtc writes, as a comment of the text's language: `//`, `;`, `#` or
/// `<!--`.
std::string textMark(llvm::StringRef comment);

/// Whether a regular file is one of mtc's. One that cannot be read is none.
bool isWrittenByMtc(llvm::StringRef path);

} // namespace mtc::tool

#endif // MTC_TOOLS_SUPPORT_WRITTENBYMTC_H
