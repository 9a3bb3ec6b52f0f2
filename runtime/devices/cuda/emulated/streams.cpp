// The queues.
#include "runtime/devices/cuda/emulated/streams.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace mtc::runtime::cuda {

namespace {

struct State {
  std::vector<std::unique_ptr<StreamHandle>> streams;
  std::string fault; ///< after it, nothing runs any more
};

State &state() {
  static State all;
  return all;
}

} // namespace

const std::string &firstFault() { return state().fault; }

void enqueue(StreamHandle *stream, Task task) {
  if (stream->capture) {
    stream->capture->push_back(std::move(task));
    return;
  }
  stream->tasks.push_back(std::move(task));
  ++stream->asked;
}

bool runUntil(StreamHandle *stream, uint64_t position) {
  std::string &fault = state().fault;
  while (fault.empty() && stream->asked - stream->tasks.size() < position) {
    // Off the queue first: a task that waits for another stream may come back here.
    Task task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    std::string words = task();
    if (fault.empty())
      fault = std::move(words);
  }
  return fault.empty();
}

bool runAll() {
  for (auto &stream : state().streams)
    runUntil(stream.get(), stream->asked);
  return state().fault.empty();
}

StreamHandle *createStream() {
  return state().streams.emplace_back(std::make_unique<StreamHandle>()).get();
}

void destroyStream(StreamHandle *stream) {
  runUntil(stream, stream->asked);
  // Events may still name it: it stays, without work.
  stream->tasks.clear();
}

} // namespace mtc::runtime::cuda
