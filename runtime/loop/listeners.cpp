// Creates each kind of listener whose flag is given.
#include "runtime/loop/listeners.h"

#include "runtime/reports/metrics.h"
#include "runtime/reports/progress.h"
#include "runtime/reports/run_report.h"
#include "runtime/reports/tensorboard.h"

#include <memory>

namespace mtc::runtime {

void addListeners(const MtcProgram &program, const Options &options, int64_t step,
                  RunListeners &listeners) {
  if (!options.metrics.empty())
    listeners.add(std::make_unique<MetricsFile>(options.metrics, step));
  if (!options.tensorboard.empty())
    listeners.add(std::make_unique<TensorBoard>(options.tensorboard));
  if (!options.report.empty())
    listeners.add(std::make_unique<RunReport>(program, options.report));
  if (!options.quiet)
    listeners.add(std::make_unique<Progress>());
}

} // namespace mtc::runtime
