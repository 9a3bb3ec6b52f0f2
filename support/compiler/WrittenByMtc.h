//===- WrittenByMtc.h - Recognition of files that mtc wrote -----------------------------------===//
//
// The mark is part of the file, so it is preserved when the file is moved: a note section in
// programs (and in the archives of their objects), and the marks of runtime/abi/file_marks.h in
// other outputs of mtc and its programs.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_WRITTENBYMTC_H
#define MTC_SUPPORT_COMPILER_WRITTENBYMTC_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace mtc::tool {

/// Returns the first line of a text file that mtc writes, as a comment in the text's language:
/// `//`, `;`, `#` or `<!--`.
std::string textMark(llvm::StringRef comment);

/// Returns whether a regular file was written by mtc; false if it cannot be read.
bool isWrittenByMtc(llvm::StringRef path);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_WRITTENBYMTC_H
