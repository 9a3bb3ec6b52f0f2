// Labels of a language model that are not the next tokens.
#ifndef MTC_RUNTIME_NEXT_TOKEN_CHECK_H
#define MTC_RUNTIME_NEXT_TOKEN_CHECK_H

#include "runtime/data_column.h"

namespace mtc::runtime {

/// A mistake of the user if the labels, as far as they count, are the tokens themselves, as Hugging
/// Face's models take them, or the tokens two places after: either trains another task than the
/// loss `causal-lm` says. Reads rows until it has seen enough of them. The last axis of both inputs
/// is the sequence.
void checkNextTokens(const MtcInput &tokens, DataColumn &tokenColumn, const MtcInput &labels,
                     DataColumn &labelColumn);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_NEXT_TOKEN_CHECK_H
