// Streams, events and graphs of the emulated driver.
//
// Work runs as late as the program's synchronization allows: only when a stream or event is waited
// for, and only the work up to that point. A missing wait thus causes data that is missing or
// overwritten.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H

#include "runtime/devices/gpu/driver.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::gpu {

/// Runs and returns an error message; empty on success, and nullopt if the task waits for another
/// process and must be run again.
using Task = std::function<std::optional<std::string>()>;

/// The nodes of a graph that were captured from one stream, in order.
struct GraphBranch {
  /// A task, or a wait for another branch.
  struct Node {
    Task task;
    size_t awaitedBranch = 0, awaitedPosition = 0; ///< if there is no task
  };
  std::vector<Node> nodes;
  size_t joined = 0; ///< number of nodes that the first branch has waited for
};

/// The first branch belongs to the stream on which the capture began; the others belong to streams
/// that waited for an event of the capture.
struct GraphHandle {
  std::vector<GraphBranch> branches;
};
struct ExecutableGraphHandle {
  std::vector<GraphBranch> branches;
};

/// A position in the work of a stream, or of its branch of a graph.
struct Position {
  StreamHandle *stream;
  uint64_t number;
};

struct StreamHandle {
  std::deque<Task> tasks; ///< pending tasks
  uint64_t asked = 0;     ///< total number of enqueued tasks; asked - tasks.size() of them have run
  GraphHandle *capture = nullptr;
  size_t branch = 0;             ///< branch index in the capture
  std::vector<Position> awaited; ///< events that were waited for since the last task
};

/// A position in a stream's work, or in a branch of a captured graph.
struct EventHandle {
  StreamHandle *stream = nullptr; ///< null: never recorded, so waiting returns immediately
  GraphHandle *capture = nullptr;
  uint64_t position = 0;
  std::chrono::steady_clock::time_point time; ///< when the event completed
};

/// Adds a task to a stream, or to the graph that is being captured from it.
void enqueue(StreamHandle *stream, Task task);
/// Adds a task at a position, unless work was enqueued after it.
void enqueueAt(const Position &position, Task task);
/// Makes later work of a stream wait for an event. A stream that waits for an event of a capture
/// joins the capture.
void enqueueWait(StreamHandle *stream, const EventHandle &event);
/// Ends the capture that began on a stream; returns null if one of its branches was not joined.
GraphHandle *endCapture(StreamHandle *stream);
/// Enqueues a graph on a stream. Branches run as late as the waits for them allow.
void enqueueGraph(StreamHandle *stream, const ExecutableGraphHandle &graph);
enum class Progress { Done, Waiting, Failed };
/// Runs the tasks up to a position, or up to one that waits for another process. `Failed`: one of
/// them, or an earlier one, failed.
Progress runUntil(StreamHandle *stream, uint64_t position);
/// Runs the tasks up to a position; returns false if one of them, or an earlier one, failed.
bool waitUntil(StreamHandle *stream, uint64_t position);
/// Runs all work of all streams.
bool runAll();
/// Returns the message of the first failed task.
const std::string &firstFault();

StreamHandle *createStream();
/// Runs the remaining work of the stream first.
void destroyStream(StreamHandle *stream);

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_STREAMS_H
