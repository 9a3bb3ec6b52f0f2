// Streams, events and graphs of the emulated driver.
//
// Work runs as late as the program's synchronization allows: where a stream, or an event in it, is
// waited for, and then only the work up to there. A wait that is missing shows as data that has not
// come or has been overwritten.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H

#include "runtime/devices/cuda/driver.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace mtc::runtime::cuda {

/// Does its work and says what was wrong with it; empty if nothing.
using Task = std::function<std::string()>;

struct StreamHandle {
  std::deque<Task> tasks; ///< not run yet
  uint64_t asked = 0; ///< tasks that were asked for; those that have run are asked - tasks.size()
  std::vector<Task> *capture = nullptr;
};

/// A point in a stream's work.
struct EventHandle {
  StreamHandle *stream = nullptr; ///< null: never recorded, which is no point to wait for
  uint64_t position = 0;
  std::chrono::steady_clock::time_point time; ///< when it was passed
};

struct GraphHandle {
  std::vector<Task> tasks;
};
struct ExecutableGraphHandle {
  std::vector<Task> tasks;
};

/// Adds work to a stream, or to the graph that it is captured in.
void enqueue(StreamHandle *stream, Task task);
/// Runs the tasks up to a position; false if one of them, or one before, went wrong.
bool runUntil(StreamHandle *stream, uint64_t position);
/// Runs all work of all streams.
bool runAll();
/// What the first wrong task said.
const std::string &firstFault();

StreamHandle *createStream();
/// Runs its work first.
void destroyStream(StreamHandle *stream);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H
