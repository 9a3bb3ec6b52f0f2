// Copy threads.
#include "runtime/devices/cpu/copy_streams.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime {

CopyStreams::~CopyStreams() {
  {
    std::lock_guard lock(mutex);
    stops = true;
  }
  changed.notify_all();
  for (auto &stream : streams)
    if (stream)
      stream->thread.join();
}

void CopyStreams::prepare(const MtcFunction &function) {
  std::vector<size_t> counts;
  for (uint32_t i = 0; i < function.operation_count; ++i)
    if (const uint32_t number = function.operations[i].stream;
        number && function.operations[i].kind == MTC_COPY) {
      counts.resize(std::max<size_t>(counts.size(), number));
      ++counts[number - 1];
    }
  std::lock_guard lock(mutex);
  ended.resize(std::max<size_t>(ended.size(), counts.empty() ? 0 : function.operation_count));
  streams.resize(std::max(streams.size(), counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) {
    auto &stream = streams[i];
    if (!stream && counts[i]) {
      stream = std::make_unique<Stream>();
      Stream &own = *stream;
      own.thread = std::thread([this, &own] { work(own); });
    }
    if (stream)
      stream->requests.reserve(counts[i]);
  }
}

void CopyStreams::work(Stream &stream) {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] {
      if (stops)
        return true;
      if (stream.next == stream.requests.size())
        return false;
      const MtcOperation &copy = *stream.requests[stream.next].copy;
      return failure || std::all_of(copy.waits, copy.waits + copy.wait_count, [&](int64_t other) {
               return ended[static_cast<size_t>(other)] != 0;
             });
    });
    if (stops)
      return;
    const Request request = stream.requests[stream.next++];
    std::exception_ptr thrown;
    if (!failure) {
      lock.unlock();
      try {
        copyBetween(arenas, *request.copy, &stream.bounce);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
    }
    if (thrown && !failure)
      failure = thrown;
    ended[request.number] = 1;
    --running;
    changed.notify_all();
  }
}

void CopyStreams::enqueue(const MtcOperation &copy, size_t number) {
  {
    std::lock_guard lock(mutex);
    streams[copy.stream - 1]->requests.push_back({&copy, number});
    ++running;
  }
  changed.notify_all();
}

void CopyStreams::markEnded(size_t number) {
  {
    std::lock_guard lock(mutex);
    ended[number] = 1;
  }
  changed.notify_all();
}

void CopyStreams::throwFailure() {
  if (failure)
    std::rethrow_exception(std::exchange(failure, nullptr));
}

void CopyStreams::wait(size_t number) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended[number] != 0; });
  throwFailure();
}

void CopyStreams::join() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return running == 0; });
  for (auto &stream : streams)
    if (stream) {
      stream->requests.clear();
      stream->next = 0;
    }
  std::fill(ended.begin(), ended.end(), 0);
  throwFailure();
}

} // namespace mtc::runtime
