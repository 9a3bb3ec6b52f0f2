// Labels that no file gives.
#ifndef MTC_RUNTIME_DATA_LABEL_FILL_H
#define MTC_RUNTIME_DATA_LABEL_FILL_H

#include "runtime/abi/program.h"

#include <cstdint>

namespace mtc::runtime {

/// Fills the last `rows` of dims[0] with what losses ignore; labels that are no integers with
/// zeros, which nobody may read.
void fillIgnored(const MtcInput &labels, int64_t rows, char *to);

/// labels[.., t] = tokens[.., t + 1]; the last of each sequence is ignored. Both have the same
/// shape.
void shiftTokens(const MtcInput &tokens, const char *from, const MtcInput &labels, char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_LABEL_FILL_H
