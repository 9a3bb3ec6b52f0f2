//===- Dimensions.h - Symbolic dimensions
//-------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_DIMENSIONS_H
#define MTC_FRONTEND_READER_DIMENSIONS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::onnx {

/// The value of a symbolic dimension: a name with a size, or an expression of +, -, *, //,
/// parentheses, Min and Max over names and numbers, as exporters derive them (`sequence*batch`,
/// `Min(48, sequence)`). Nothing where a name has no size or the text is no such expression.
std::optional<int64_t> evaluateDimension(llvm::StringRef text,
                                         const llvm::StringMap<int64_t> &sizes);

/// The names in a symbolic dimension: itself, or those of the expression that it is.
std::vector<std::string> dimensionNames(llvm::StringRef text);

/// Whether a symbolic dimension is a plain name, which `--dim` can give a size.
bool isDimensionName(llvm::StringRef text);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_DIMENSIONS_H
