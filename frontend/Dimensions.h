//===- Dimensions.h - Symbolic dimensions and their extents -----------------------------------===//
//
// Exporters write derived dimensions as expressions of names: `sequence*batch`, `sequence + 1`,
// `Min(48, sequence)`, `floor(height/2)`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIMENSIONS_H
#define MTC_FRONTEND_DIMENSIONS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace mtc::onnx {

/// The extent of a dimension under `bindings`: that of the whole text if it is bound, otherwise the
/// value of the expression. Nothing if a name is unbound, the text is no expression, or its value
/// is no integer from 0 to 2^63 - 1.
std::optional<int64_t> evaluateDimension(llvm::StringRef text,
                                         const llvm::StringMap<int64_t> &bindings);

/// The names that have to be bound for the dimension to have an extent, each once: those in the
/// expression, or the text itself where it is none.
llvm::SmallVector<std::string> dimensionNames(llvm::StringRef text);

/// Whether a symbolic dimension is a plain name, which `--dim` gives a size.
bool isDimensionName(llvm::StringRef text);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIMENSIONS_H
