//===- Suggestions.h - Spelling suggestions for names -----------------------------------------===//

#ifndef MTC_FRONTEND_SUGGESTIONS_H
#define MTC_FRONTEND_SUGGESTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mtc::onnx {

/// Returns `; did you mean 'a', 'b'?` with the up to three candidates closest to `name`, closest
/// first, or an empty string if none is close. A candidate is close if its edit distance is at most
/// a third of the length of `name` (at least 1), or if one of the two names contains the other. The
/// comparison ignores case and the wildcards `*` and `?` in `name`.
std::string suggestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_SUGGESTIONS_H
