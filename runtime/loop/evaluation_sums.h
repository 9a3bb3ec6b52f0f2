// The sums of an evaluation whose batches several ranks compute.
#ifndef MTC_RUNTIME_LOOP_EVALUATION_SUMS_H
#define MTC_RUNTIME_LOOP_EVALUATION_SUMS_H

#include "runtime/collectives/to_leader.h"
#include "runtime/loop/evaluation_metrics.h"

#include <vector>

namespace mtc::runtime {

/// Adds the sums of batches on rank 0. The order of additions is that of the batches, so that the
/// number of ranks does not change a bit of the result.
class EvaluationSums {
public:
  /// All ranks must call it.
  EvaluationSums(const MtcProgram &program, Ranks &ranks);

  /// Adds the sums of a batch of rank `rank`, which passes them as `own`. Returns them on rank 0.
  /// All ranks must call it for each batch, in order.
  MetricSums add(int rank, const MetricSums &own);

  /// Returns the sums of all batches on rank 0; the result of the other ranks has no meaning. The
  /// sums of another evaluation can follow. All ranks must call it.
  MetricSums finish();

private:
  const MtcProgram &program;
  Ranks &ranks;
  std::vector<const char *> names;      ///< of the totals
  std::vector<RowTotal> sent, received; ///< in the order of `names`
  ToLeader toLeader;
  MetricSums total;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATION_SUMS_H
