// Files of token ids without shape: `.bin`.
#ifndef MTC_RUNTIME_TOKEN_STREAM_H
#define MTC_RUNTIME_TOKEN_STREAM_H

#include "runtime/array_on_disk.h"

#include <string>

namespace mtc::runtime {

/// Opens a stream of tokens as an array of one dimension. Known headers, 256 words of 32 bits each:
/// llm.c's (magic 20240520, 16-bit tokens; 20240801, 32-bit) and NeMo's (278895051, with the item
/// size); a file without one is of 16-bit tokens, as nanoGPT writes it.
ArrayOnDisk openTokens(const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_TOKEN_STREAM_H
