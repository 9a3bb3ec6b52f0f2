// Token files without a shape: `.bin`.
#ifndef MTC_RUNTIME_DATA_TOKEN_STREAM_H
#define MTC_RUNTIME_DATA_TOKEN_STREAM_H

#include "runtime/io/array_on_disk.h"

#include <optional>
#include <string>

namespace mtc::runtime {

struct TokenStream {
  ArrayOnDisk tokens; ///< rank 1
  /// Whether the token type is a guess: neither a header nor the user specifies it, and only 16-bit
  /// tokens fit.
  bool isTypeAssumed = false;
};

/// Opens a file of tokens for an input. The known headers consist of 256 32-bit words: llm.c's
/// (magic 20240520: 16-bit tokens; 20240801: 32-bit) and modded-nanogpt's (278895051, with the
/// token size). `type` is the token type that the user specifies; its size must match the header. A
/// file without a header and type has 16-bit tokens, as nanoGPT writes them, unless its bytes are
/// also valid as wider tokens for the input; a user error then requests the type.
TokenStream openTokens(const std::string &path, std::optional<MtcType> type, const MtcInput &input,
                       const std::string &flag);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_TOKEN_STREAM_H
