#include "runtime/data/read_workers.h"

#include <system_error>
#include <utility>

namespace mtc::runtime {

ReadWorkers::~ReadWorkers() {
  {
    const std::lock_guard lock(mutex);
    isStopped = true;
  }
  changed.notify_all();
  for (std::thread &thread : running)
    thread.join();
}

void ReadWorkers::start() {
  while (static_cast<int>(running.size()) + 1 < threads)
    try {
      running.emplace_back([this, worker = static_cast<int>(running.size()) + 1] { work(worker); });
    } catch (const std::system_error &) {
      return; // The system cannot start another thread: the others do its work.
    }
}

/// The main loop of a thread: takes items of each round.
void ReadWorkers::work(int worker) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return isStopped || round != seen; });
      if (isStopped)
        return;
      seen = round;
    }
    takeItems(worker);
  }
}

/// Takes items until none is left. Failed items do not stop the others, so that the failure does
/// not depend on the timing of threads.
void ReadWorkers::takeItems(int worker) {
  std::unique_lock lock(mutex);
  ++busy;
  while (next < end) {
    const int64_t item = next++;
    const auto &current = *action;
    lock.unlock();
    std::exception_ptr problem;
    try {
      current(item, worker);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    if (problem && (!failure || item < failedAt)) {
      failure = problem;
      failedAt = item;
    }
  }
  --busy;
  changed.notify_all();
}

void ReadWorkers::run(int64_t count, const std::function<void(int64_t, int)> &items) {
  start();
  {
    const std::lock_guard lock(mutex);
    action = &items;
    next = 0;
    end = count;
    ++round;
  }
  changed.notify_all();
  takeItems(0);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return busy == 0 && next >= end; });
  if (const std::exception_ptr found = std::exchange(failure, nullptr))
    std::rethrow_exception(found);
}

} // namespace mtc::runtime
