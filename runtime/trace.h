// --profile: a trace of everything that a program runs, for Perfetto or chrome://tracing.
#ifndef MTC_RUNTIME_TRACE_H
#define MTC_RUNTIME_TRACE_H

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

namespace mtc::runtime {

/// One event of an operation: the model's nodes as its name, the kernel and what it moved and
/// computed as arguments.
struct TraceEvent {
  const char *nodes;
  const std::string &kernel;
  int64_t flops, bytes;
};

/// Written as it goes (the JSON array format of Trace Event files), so that it takes no memory and
/// survives a kill.
class Trace {
public:
  using Clock = std::chrono::steady_clock;

  explicit Trace(std::string path);
  ~Trace();

  void record(const TraceEvent &event, Clock::time_point begin, Clock::time_point end);
  /// Marks a whole step, load or update.
  void recordPhase(const std::string &name, Clock::time_point begin, Clock::time_point end);
  /// Writes the end; a fault of the system if anything could not be written.
  void finish();

private:
  void write(const std::string &name, const char *category, int lane, const std::string &arguments,
             Clock::time_point begin, Clock::time_point end);

  std::string path;
  std::ofstream file;
  Clock::time_point start = Clock::now();
  bool first = true, finished = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_TRACE_H
