// Queues of streams and graphs.
#include "runtime/devices/cuda/emulated/streams.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

namespace mtc::runtime::gpu {

namespace {

struct State {
  std::vector<std::unique_ptr<StreamHandle>> streams;
  std::string fault; ///< once set, no further work runs
};

State &state() {
  static State all;
  return all;
}

} // namespace

const std::string &firstFault() { return state().fault; }

/// Returns the position after all work that was enqueued on a stream, or captured from it.
static uint64_t endOf(const StreamHandle &stream) {
  return stream.capture ? stream.capture->branches[stream.branch].nodes.size() : stream.asked;
}

void enqueueAt(const Position &position, Task task) {
  if (endOf(*position.stream) == position.number)
    enqueue(position.stream, std::move(task));
}

void enqueue(StreamHandle *stream, Task task) {
  stream->awaited.clear();
  if (stream->capture) {
    stream->capture->branches[stream->branch].nodes.push_back({std::move(task)});
    return;
  }
  stream->tasks.push_back(std::move(task));
  ++stream->asked;
}

void enqueueWait(StreamHandle *stream, const EventHandle &event) {
  if (!event.stream)
    return;
  std::vector<Position> awaited = std::move(stream->awaited);
  awaited.push_back({event.stream, event.position});
  if (!event.capture) {
    enqueue(stream,
            [from = event.stream, position = event.position]() -> std::optional<std::string> {
              if (runUntil(from, position) == Progress::Waiting)
                return std::nullopt;
              return "";
            });
    stream->awaited = std::move(awaited);
    return;
  }
  stream->awaited = std::move(awaited);
  if (!stream->capture) {
    stream->capture = event.capture;
    stream->branch = event.capture->branches.size();
    event.capture->branches.emplace_back();
  }
  std::vector<GraphBranch> &branches = event.capture->branches;
  GraphBranch::Node wait;
  wait.awaitedBranch = event.stream->branch;
  wait.awaitedPosition = event.position;
  branches[stream->branch].nodes.push_back(std::move(wait));
  if (stream->branch == 0) {
    GraphBranch &awaited = branches[event.stream->branch];
    awaited.joined = std::max<size_t>(awaited.joined, event.position);
  }
}

GraphHandle *endCapture(StreamHandle *stream) {
  std::unique_ptr<GraphHandle> graph(stream->capture);
  for (auto &each : state().streams)
    if (each->capture == graph.get())
      each->capture = nullptr;
  for (size_t branch = 1; branch < graph->branches.size(); ++branch)
    if (graph->branches[branch].joined < graph->branches[branch].nodes.size())
      return nullptr;
  return graph.release();
}

namespace {

/// One launch of a graph.
class GraphRun {
public:
  explicit GraphRun(const std::vector<GraphBranch> &branches)
      : branches(branches), done(branches.size()) {}

  std::optional<std::string> runUntil(size_t branch, size_t position) {
    while (done[branch] < position) {
      const GraphBranch::Node &node = branches[branch].nodes[done[branch]++];
      std::optional<std::string> fault =
          node.task ? node.task() : runUntil(node.awaitedBranch, node.awaitedPosition);
      if (!fault)
        --done[branch];
      if (!fault || !fault->empty())
        return fault;
    }
    return "";
  }

private:
  const std::vector<GraphBranch> &branches;
  std::vector<size_t> done; ///< number of completed nodes per branch
};

} // namespace

void enqueueGraph(StreamHandle *stream, const ExecutableGraphHandle &graph) {
  auto run = std::make_shared<GraphRun>(graph.branches);
  for (size_t position = 1; position <= graph.branches[0].nodes.size(); ++position)
    enqueue(stream, [run, position] { return run->runUntil(0, position); });
}

Progress runUntil(StreamHandle *stream, uint64_t position) {
  std::string &fault = state().fault;
  while (fault.empty() && stream->asked - stream->tasks.size() < position) {
    // Dequeue first: a task that waits for another stream may re-enter this function.
    Task task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    std::optional<std::string> words = task();
    if (!words && fault.empty()) {
      stream->tasks.push_front(std::move(task));
      return Progress::Waiting;
    }
    if (fault.empty())
      fault = std::move(*words);
  }
  return fault.empty() ? Progress::Done : Progress::Failed;
}

bool waitUntil(StreamHandle *stream, uint64_t position) {
  for (;;) {
    const Progress progress = runUntil(stream, position);
    if (progress != Progress::Waiting)
      return progress == Progress::Done;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

bool runAll() {
  for (auto &stream : state().streams)
    waitUntil(stream.get(), stream->asked);
  return state().fault.empty();
}

StreamHandle *createStream() {
  return state().streams.emplace_back(std::make_unique<StreamHandle>()).get();
}

void destroyStream(StreamHandle *stream) {
  waitUntil(stream, stream->asked);
  // Events may still refer to the stream, so it is kept without work.
  stream->tasks.clear();
}

} // namespace mtc::runtime::gpu
