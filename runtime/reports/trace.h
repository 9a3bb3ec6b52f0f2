// --profile: a trace of all operations of a run, for Perfetto or chrome://tracing.
#ifndef MTC_RUNTIME_REPORTS_TRACE_H
#define MTC_RUNTIME_REPORTS_TRACE_H

#include "runtime/devices/observer.h"

#include <fstream>
#include <string>

namespace mtc::runtime {

/// Writes events as they occur (JSON array format of the Trace Event format), so that the trace
/// takes no memory and survives a kill. An event is named after the model nodes; its arguments are
/// the kernel and the bytes and operations.
class Trace final : public Observer {
public:
  explicit Trace(std::string path);
  ~Trace() override;

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) override;
  /// Writes the end of the array; throws a system error if any write failed.
  void finish();

private:
  void write(const std::string &name, const char *category, int lane, const std::string &arguments,
             Clock::time_point begin, Clock::time_point end);

  /// Records the errno of the first failed write.
  void noteError();

  std::string path;
  std::ofstream file;
  int firstError = 0;
  Clock::time_point start = Clock::now();
  bool finished = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_TRACE_H
