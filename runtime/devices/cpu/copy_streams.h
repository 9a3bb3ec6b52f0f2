// Asynchronous copies of a function.
#ifndef MTC_RUNTIME_DEVICES_CPU_COPY_STREAMS_H
#define MTC_RUNTIME_DEVICES_CPU_COPY_STREAMS_H

#include "runtime/devices/cpu/arenas.h"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mtc::runtime {

/// Streams of copies, with one thread per stream. The thread waits for the dependencies of its next
/// copy, so that the function does not block when it issues a copy.
class CopyStreams {
public:
  explicit CopyStreams(const Arenas &arenas) : arenas(arenas) {}
  ~CopyStreams();
  CopyStreams(const CopyStreams &) = delete;
  CopyStreams &operator=(const CopyStreams &) = delete;

  /// Allocates the state for the copies of a function. May be called for several functions.
  void prepare(const MtcFunction &function);
  /// Enqueues operation `number` of the running function, which is a copy on a stream.
  void enqueue(const MtcOperation &copy, size_t number);
  /// Marks an operation that copies wait for, other than a copy, as ended.
  void markEnded(size_t number);
  /// Waits for the end of one copy, or of all. Throws the error of a failed copy.
  void wait(size_t number);
  /// Waits for all copies at the end of the function.
  void join();

private:
  struct Request {
    const MtcOperation *copy;
    size_t number;
  };
  struct Stream {
    std::vector<Request> requests; ///< copies of the running function
    size_t next = 0;               ///< index of the first request that has not started
    BouncePages bounce;
    std::thread thread;
  };
  void work(Stream &stream);
  void throwFailure();

  const Arenas &arenas;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Stream>> streams; ///< by stream number, from 1
  std::vector<char> ended;                      ///< by operation number
  size_t running = 0;                           ///< number of enqueued copies that have not ended
  bool stops = false;
  std::exception_ptr failure;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_COPY_STREAMS_H
