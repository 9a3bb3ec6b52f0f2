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

/// What a graph does in the order of one stream.
struct GraphBranch {
  /// Work, or that another branch is waited for.
  struct Node {
    Task task;
    size_t awaitedBranch = 0, awaitedPosition = 0; ///< where there is no task
  };
  std::vector<Node> nodes;
  size_t joined = 0; ///< nodes that the first branch has waited for
};

/// The first branch is that of the stream on which the capture began; others are of streams that
/// waited for an event of it.
struct GraphHandle {
  std::vector<GraphBranch> branches;
};
struct ExecutableGraphHandle {
  std::vector<GraphBranch> branches;
};

struct StreamHandle {
  std::deque<Task> tasks; ///< not run yet
  uint64_t asked = 0; ///< tasks that were asked for; those that have run are asked - tasks.size()
  GraphHandle *capture = nullptr;
  size_t branch = 0; ///< of the capture
};

/// A point in a stream's work, or in that of a branch of a graph that is captured.
struct EventHandle {
  StreamHandle *stream = nullptr; ///< null: never recorded, which is no point to wait for
  GraphHandle *capture = nullptr;
  uint64_t position = 0;
  std::chrono::steady_clock::time_point time; ///< when it was passed
};

/// Adds work to a stream, or to the graph that it is captured in.
void enqueue(StreamHandle *stream, Task task);
/// Lets what is asked of a stream from here on wait for an event. A stream that waits for an event
/// of a capture is captured, too.
void enqueueWait(StreamHandle *stream, const EventHandle &event);
/// Ends the capture that began on a stream; null if a branch of it was not waited for.
GraphHandle *endCapture(StreamHandle *stream);
/// Adds the work of a graph to a stream. Branches run as late as the waits for them allow.
void enqueueGraph(StreamHandle *stream, const ExecutableGraphHandle &graph);
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
