//===- Dimensions.h - Symbolic dimensions and their extents -----------------------------------===//
//
// Evaluates the text of a symbolic dimension (`dim_param`). Exporters write derived dimensions as
// expressions over dimension names in sympy's notation: `sequence*batch`, `sequence + 1`,
// `Min(48, sequence)`, `floor(height/2)`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIMENSIONS_H
#define MTC_FRONTEND_DIMENSIONS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace mtc {

/// Returns the extent of the dimension `text` under `bindings`: the extent bound to the whole text
/// if there is one, otherwise the value of the expression. Returns nullopt if a name is unbound,
/// `text` is not an expression, or the value is not an integer in [0, 2^63 - 1].
std::optional<int64_t> evaluateDimension(llvm::StringRef text,
                                         const llvm::StringMap<int64_t> &bindings);

/// Returns the distinct names that must be bound to evaluate the dimension: the names in the
/// expression, or `text` itself if it is not an expression.
llvm::SmallVector<std::string> dimensionNames(llvm::StringRef text);

/// Returns whether a symbolic dimension is a plain name, which `--dim` can set.
bool isDimensionName(llvm::StringRef text);

} // namespace mtc

#endif // MTC_FRONTEND_DIMENSIONS_H
