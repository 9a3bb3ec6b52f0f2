//===- TomlKeys.h - Nesting depth of TOML keys ------------------------------------------------===//

#ifndef MTC_DRIVER_TOMLKEYS_H
#define MTC_DRIVER_TOMLKEYS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mtc::tool {

/// Returns the 1-based line of the first dotted key with more than `maxParts` parts, or nothing if
/// there is none. toml++ creates a table for each part and destroys nested tables recursively, so
/// such keys must be rejected before toml++ parses the text.
std::optional<int64_t> findDeepKey(llvm::StringRef text, int64_t maxParts);

} // namespace mtc::tool

#endif // MTC_DRIVER_TOMLKEYS_H
