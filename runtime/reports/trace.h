// --profile: a trace of everything that a program runs, for Perfetto or chrome://tracing.
#ifndef MTC_RUNTIME_REPORTS_TRACE_H
#define MTC_RUNTIME_REPORTS_TRACE_H

#include "runtime/devices/observer.h"

#include <fstream>
#include <string>

namespace mtc::runtime {

/// Written as it goes (the JSON array format of Trace Event files), so that it takes no memory and
/// survives a kill. An event's name is the model's nodes; its arguments are the kernel, and what it
/// moved and computed.
class Trace final : public Observer {
public:
  explicit Trace(std::string path);
  ~Trace() override;

  void operation(const OperationInfo &operation, Clock::time_point begin,
                 Clock::time_point end) override;
  void phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) override;
  /// Writes the end; a fault of the system if anything could not be written.
  void finish();

private:
  void write(const std::string &name, const char *category, int lane, const std::string &arguments,
             Clock::time_point begin, Clock::time_point end);

  /// Keeps the reason why the first write failed.
  void noteError();

  std::string path;
  std::ofstream file;
  int firstError = 0;
  Clock::time_point start = Clock::now();
  bool finished = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_TRACE_H
