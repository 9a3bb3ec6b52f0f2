// Handling of the samples at the end of an epoch that do not fill a batch.
#ifndef MTC_RUNTIME_DATA_LAST_BATCH_H
#define MTC_RUNTIME_DATA_LAST_BATCH_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

enum class LastBatch {
  Wrap, ///< share a batch with the first samples of the next epoch
  Drop, ///< are left out of the epoch
  Mask  ///< form a batch, padded with samples whose labels are ignored
};

/// Returns the name in --last-batch and manifests: `wrap`, `drop`, `mask`.
const char *nameOf(LastBatch last);
std::optional<LastBatch> lastBatchOfName(std::string_view name);

/// Returns whether samples can be excluded from the loss: by their labels, or by weights.
bool canMask(const MtcProgram &program);

/// Throws a user error if the program or its data does not support the mode: `mask` requires labels
/// that the loss can ignore, `drop` at least one full batch.
void checkLastBatch(LastBatch last, const MtcProgram &program, int64_t rows, int64_t batch);

/// Returns a one-line note on samples that are used twice or not at all in `steps` steps, with
/// their number; "" if there are none.
std::string describeLastBatch(LastBatch last, const MtcProgram &program, int64_t rows,
                              int64_t batch, int64_t steps);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_LAST_BATCH_H
