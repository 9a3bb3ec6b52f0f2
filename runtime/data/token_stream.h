// Files of token ids without shape: `.bin`.
#ifndef MTC_RUNTIME_DATA_TOKEN_STREAM_H
#define MTC_RUNTIME_DATA_TOKEN_STREAM_H

#include "runtime/io/array_on_disk.h"

#include <optional>
#include <string>

namespace mtc::runtime {

struct TokenStream {
  ArrayOnDisk tokens; ///< of one dimension
  /// Whether neither a header nor the user says what a token is, and nothing but 16 bits fits.
  bool isTypeAssumed = false;
};

/// Opens a file of tokens for an input. Known headers, 256 words of 32 bits each: llm.c's (magic
/// 20240520, 16-bit tokens; 20240801, 32-bit) and modded-nanogpt's (278895051, with the item size).
/// `type` is what the user says a token is; it must have a header's size. A file without a header
/// or type is of 16-bit tokens, as nanoGPT writes it, unless its bytes are wider tokens that the
/// input takes, too: that is a mistake of the user, who is asked for the type.
TokenStream openTokens(const std::string &path, std::optional<MtcType> type, const MtcInput &input);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_TOKEN_STREAM_H
