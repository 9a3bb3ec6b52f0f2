// Labels of a language model that are not the next tokens.
#ifndef MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
#define MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H

#include "runtime/data/data_column.h"

namespace mtc::runtime {

/// Whether the labels, as far as they count, are the tokens themselves. Reads rows until it has
/// seen enough of them. The last axis of both inputs is the sequence.
bool labelsRepeatTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                        DataColumn &labelColumn);

/// A mistake of the user if labels repeat the tokens, as Hugging Face's models take them, or are
/// the tokens two positions after: either trains another task than the loss `causal-lm` says.
void checkNextTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                     DataColumn &labelColumn);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_NEXT_TOKEN_CHECK_H
