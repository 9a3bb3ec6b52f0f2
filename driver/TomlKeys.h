//===- TomlKeys.h - Depth of the keys of a TOML text ------------------------------------------===//

#ifndef MTC_DRIVER_TOMLKEYS_H
#define MTC_DRIVER_TOMLKEYS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace mtc::tool {

/// The line, from 1 on, of the first dotted key with more than `maxParts` parts; nothing if there
/// is none. toml++ makes a table of each part and destroys nested tables recursively, so such a key
/// must be found before toml++ parses the text.
std::optional<int64_t> findDeepKey(llvm::StringRef text, int64_t maxParts);

} // namespace mtc::tool

#endif // MTC_DRIVER_TOMLKEYS_H
