//===- Suggestions.h - Names that a misspelled one may stand for ------------------------------===//

#ifndef MTC_FRONTEND_SUGGESTIONS_H
#define MTC_FRONTEND_SUGGESTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mtc::onnx {

/// `; did you mean 'a', 'b'?` with the up to three candidates nearest to `name`, nearest first:
/// those within an edit distance of a third of its length, those that `name` is a part of, and the
/// other way round. Wildcards of a pattern are left out of the comparison. Empty where none is
/// near.
std::string suggestNames(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_SUGGESTIONS_H
