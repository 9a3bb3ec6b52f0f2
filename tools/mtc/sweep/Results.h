//===- Results.h - Results of the runs of a sweep ---------------------------------------------===//

#ifndef MTC_TOOLS_MTC_SWEEP_RESULTS_H
#define MTC_TOOLS_MTC_SWEEP_RESULTS_H

#include "tools/mtc/sweep/Program.h"
#include "tools/mtc/sweep/Settings.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

namespace mtc::tool {

/// A run and what its metrics file says.
struct SweepRun {
  Setting setting;
  size_t number = 0; ///< in the order of the settings
  std::string folder;
  std::string problem; ///< why the run failed; "" if it completed
  int64_t steps = 0;
  double seconds = 0; ///< of all steps

  struct Point {
    int64_t step;
    double value;
  };
  /// The values of each metric: `loss` of the steps, and those of validations.
  std::map<std::string, std::vector<Point>> metrics;
  /// The value by which runs are compared; nullopt if the run has none.
  std::optional<double> value;
};

/// Reads the metrics file of a completed run.
llvm::Error readMetrics(llvm::StringRef path, SweepRun &run);

/// Returns the value of a run: the mean of the last tenth of the steps for `loss`, and the best
/// validation for other metrics.
std::optional<double> valueOf(const SweepRun &run, const std::string &metric,
                              bool isHigherBetter = false);

/// Sorts the runs, the best first, by a metric: `loss`, or one of validations, such as
/// `validation_loss` or `accuracy`. "" is `validation_loss`, or `loss` without validations.
/// Returns the metric's name.
llvm::Expected<std::string> rank(std::vector<SweepRun> &runs, llvm::StringRef metric,
                                 const SweptProgram &program);

/// Writes the table in columns for a terminal, as CSV or as JSON.
void printTable(llvm::ArrayRef<SweepRun> runs, llvm::StringRef metric, llvm::raw_ostream &stream);
void printCsv(llvm::ArrayRef<SweepRun> runs, llvm::StringRef metric, llvm::raw_ostream &stream);
llvm::json::Value toJson(llvm::ArrayRef<SweepRun> runs, llvm::StringRef metric);

/// Writes a self-contained page with the table and the curves of the best runs.
void writeSweepPage(llvm::ArrayRef<SweepRun> runs, const SweptProgram &program,
                    llvm::StringRef metric, llvm::raw_ostream &stream);

/// Returns the names of all settings, in the order of the runs.
std::vector<std::string> namesOfSettings(llvm::ArrayRef<SweepRun> runs);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_SWEEP_RESULTS_H
