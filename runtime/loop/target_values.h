// Values of each target of a batch.
#ifndef MTC_RUNTIME_LOOP_TARGET_VALUES_H
#define MTC_RUNTIME_LOOP_TARGET_VALUES_H

#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/step_scalars.h"

#include <cstdint>
#include <functional>

namespace mtc::runtime {

/// Calls `visit` with each float of a value of the first `rows` rows of the batch that the device
/// has evaluated.
void forEachFloat(const StepScalars &scalars, const MtcRowValue &value, int64_t rows,
                  const std::function<void(float)> &visit);

/// Adds the classes, scores and sequences of the first `rows` rows of that batch.
void addTargets(const StepScalars &scalars, int64_t rows, MetricSums &sums);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_TARGET_VALUES_H
