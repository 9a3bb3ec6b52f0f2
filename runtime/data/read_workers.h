// Threads that read and augment the samples of a batch.
#ifndef MTC_RUNTIME_DATA_READ_WORKERS_H
#define MTC_RUNTIME_DATA_READ_WORKERS_H

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mtc::runtime {

class ReadWorkers {
public:
  /// With one thread, the caller does all work. Threads are started on first use.
  explicit ReadWorkers(int threads) : threads(threads) {}
  ~ReadWorkers();
  ReadWorkers(const ReadWorkers &) = delete;
  ReadWorkers &operator=(const ReadWorkers &) = delete;

  int count() const { return threads; }

  /// Calls action(i, worker) for each i in [0, count), where `worker` is below `count()`, and
  /// waits. Throws the exception of the smallest i that failed. Only one thread may call it at a
  /// time.
  void run(int64_t count, const std::function<void(int64_t, int)> &action);

private:
  void start();
  void work(int worker);
  void takeItems(int worker);

  int threads;
  std::vector<std::thread> running;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by `mutex`.
  const std::function<void(int64_t, int)> *action = nullptr;
  int64_t next = 0, end = 0, failedAt = 0;
  int busy = 0;
  uint64_t round = 0;
  bool isStopped = false;
  std::exception_ptr failure;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_READ_WORKERS_H
