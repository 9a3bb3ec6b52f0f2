// What becomes of the rows at the end of an epoch that do not fill a batch.
#ifndef MTC_RUNTIME_DATA_LAST_BATCH_H
#define MTC_RUNTIME_DATA_LAST_BATCH_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mtc::runtime {

enum class LastBatch {
  Wrap, ///< they share a batch with the first rows of the next epoch
  Drop, ///< they are left out of the epoch
  Mask  ///< they are a batch of their own, filled up by rows whose labels are ignored
};

/// As --last-batch and manifests spell it: `wrap`, `drop`, `mask`.
const char *nameOf(LastBatch last);
std::optional<LastBatch> lastBatchOfName(std::string_view name);

/// A mistake of the user where the program or its data cannot be trained so: `mask` needs labels
/// that its loss ignores, `drop` one full batch.
void checkLastBatch(LastBatch last, const MtcProgram &program, int64_t rows, int64_t batch);

/// One line about rows that are taken twice or not at all in `steps` steps, with the numbers; ""
/// where there are none.
std::string describeLastBatch(LastBatch last, const MtcProgram &program, int64_t rows,
                              int64_t batch, int64_t steps);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_LAST_BATCH_H
