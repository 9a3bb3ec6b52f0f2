// Detects labels of a language model that are not the next tokens.
#ifndef MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
#define MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Rows of sequences of integers. The last axis of the input is the sequence.
struct TokenRows {
  const MtcInput &input;
  std::string flag; ///< for messages
  int64_t rows;
  std::function<std::vector<char>(int64_t row)> read; ///< elements of the input's type
};

/// Returns whether the labels that are not ignored equal the tokens themselves. Reads rows until
/// enough labels were compared.
bool labelsRepeatTokens(const TokenRows &tokens, const TokenRows &labels);

/// Throws a user error if the labels repeat the tokens, as Hugging Face's models accept them, or
/// are the tokens two positions later. Either would train a task other than that of the loss
/// `causal-lm`.
void checkNextTokens(const TokenRows &tokens, const TokenRows &labels);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
