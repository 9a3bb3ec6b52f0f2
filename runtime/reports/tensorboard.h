// --tensorboard: the metrics of a run as event files of TensorBoard.
#ifndef MTC_RUNTIME_REPORTS_TENSORBOARD_H
#define MTC_RUNTIME_REPORTS_TENSORBOARD_H

#include "runtime/io/appended_file.h"
#include "runtime/reports/event_message.h"
#include "runtime/reports/run_listener.h"

#include <memory>
#include <string>

namespace mtc::runtime {

/// Writes a new event file in a folder for each run: scalars with the tags `train/NAME` and
/// `validation/NAME`, where NAME is the name in the lines of --metrics. Each step is written as
/// soon as it is complete. The file starts with a session log. Readers then discard the values that
/// earlier files of the folder have for the steps of this one.
class TensorBoard final : public RunListener {
public:
  /// Creates the folder, with its parents, if it is missing. The file is created when the run
  /// begins.
  explicit TensorBoard(std::string folder);

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;

private:
  void openFile();
  /// Begins the event of a step.
  void begin(int64_t step);
  /// Appends the event to the file.
  void write();

  std::string folder;
  std::unique_ptr<AppendedFile> file;
  RunFacts facts;
  EventMessage event;
  std::string record; ///< buffer, reused for each event
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_TENSORBOARD_H
