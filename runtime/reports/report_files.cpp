// Creates a listener for each kind of report.
#include "runtime/reports/report_files.h"

#include "runtime/reports/metrics.h"
#include "runtime/reports/run_report.h"
#include "runtime/reports/tensorboard.h"

#include <memory>

namespace mtc::runtime {

void addReports(const MtcProgram &program, const ReportFiles &files, int64_t step,
                RunListeners &listeners) {
  if (!files.metrics.empty())
    listeners.add(std::make_unique<MetricsFile>(files.metrics, step));
  if (!files.tensorboard.empty())
    listeners.add(std::make_unique<TensorBoard>(files.tensorboard));
  if (!files.report.empty())
    listeners.add(std::make_unique<RunReport>(program, files.report));
}

} // namespace mtc::runtime
