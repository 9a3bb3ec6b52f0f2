// Detects labels of a language model that are not the next tokens.
#ifndef MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
#define MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H

#include "runtime/data/data_column.h"

namespace mtc::runtime {

/// Returns whether the labels that are not ignored equal the tokens themselves. Reads samples until
/// enough labels were compared. The last axis of both inputs is the sequence.
bool labelsRepeatTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                        DataColumn &labelColumn);

/// Throws a user error if the labels repeat the tokens, as Hugging Face's models accept them, or
/// are the tokens two positions later. Either would train a task other than that of the loss
/// `causal-lm`.
void checkNextTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                     DataColumn &labelColumn);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
