// Copies that run while a function goes on.
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

/// Streams of copies, a thread for each. A thread waits for what its next copy waits for, so that
/// the function, which asks for the copies, need not.
class CopyStreams {
public:
  explicit CopyStreams(const Arenas &arenas) : arenas(arenas) {}
  ~CopyStreams();
  CopyStreams(const CopyStreams &) = delete;
  CopyStreams &operator=(const CopyStreams &) = delete;

  /// Makes ready for the copies of functions of at most so many operations.
  void prepare(const MtcFunction &function);
  /// Asks for operation `number` of the function that runs, a copy on a stream.
  void enqueue(const MtcOperation &copy, size_t number);
  /// Until one of the copies has ended, or all have. What kept a copy from running is thrown.
  void wait(size_t number);
  /// The function's end.
  void join();

private:
  struct Request {
    const MtcOperation *copy;
    size_t number;
  };
  struct Stream {
    std::vector<Request> requests; ///< of the function that runs
    size_t next = 0;               ///< the first that has not begun
    BouncePages bounce;
    std::thread thread;
  };
  void work(Stream &stream);
  void throwFailure();

  const Arenas &arenas;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Stream>> streams; ///< by number, from 1
  std::vector<char> ended;                      ///< by the operation's number
  size_t running = 0;                           ///< copies that were asked for and have not ended
  bool stops = false;
  std::exception_ptr failure;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_COPY_STREAMS_H
