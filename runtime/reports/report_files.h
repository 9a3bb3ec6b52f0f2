// The files that report a training run.
#ifndef MTC_RUNTIME_REPORTS_REPORT_FILES_H
#define MTC_RUNTIME_REPORTS_REPORT_FILES_H

#include "runtime/abi/program.h"
#include "runtime/reports/run_listener.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Paths of reports; "": the report is not written.
struct ReportFiles {
  std::string metrics;     ///< of --metrics
  std::string tensorboard; ///< of --tensorboard, a folder
  std::string report;      ///< of --report
};

/// Adds a listener for each file to a run of a program that starts after `step` steps. Throws if
/// one of the files cannot be written.
void addReports(const MtcProgram &program, const ReportFiles &files, int64_t step,
                RunListeners &listeners);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_REPORT_FILES_H
