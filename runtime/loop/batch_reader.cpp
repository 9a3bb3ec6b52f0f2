// Prefetches batches on a separate thread.
#include "runtime/loop/batch_reader.h"

#include <system_error>
#include <utility>

namespace mtc::runtime {

BatchReader::~BatchReader() {
  {
    const std::lock_guard lock(mutex);
    isStopped = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

/// The thread's main loop: reads `staged` on request.
void BatchReader::readAsAsked() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isAsked || isStopped; });
    if (!isAsked)
      return;
    lock.unlock();
    try {
      source->load(staged, *buffers);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    isAsked = false;
    changed.notify_all();
  }
}

bool BatchReader::hasThread() {
  try {
    if (!thread.joinable())
      thread = std::thread([this] { readAsAsked(); });
  } catch (const std::system_error &) {
    return false; // The system cannot start a thread: each call reads its batch synchronously.
  }
  return true;
}

/// Returns whether the batch was prefetched, and throws the errors of its prefetch. Any other
/// prefetched batch is discarded.
bool BatchReader::waitForStaged(const Dataset &data, const Batch &batch) {
  // Wait first: only one thread may read a data set at a time.
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !isAsked; });
  const std::exception_ptr found = std::exchange(problem, nullptr);
  if (!std::exchange(isStaged, false) || source != &data || staged != batch)
    return false;
  if (found)
    std::rethrow_exception(found);
  return true;
}

void BatchReader::load(Dataset &data, const Batch &batch, const Batch &next) {
  const bool wasStaged = waitForStaged(data, batch);
  if (!wasStaged)
    data.load(batch, device.batchBuffers(/*ahead=*/false));
  device.takeBatch(wasStaged);
  if (!program.staging || next.empty() || !hasThread())
    return;
  staged = next;
  source = &data;
  isStaged = true;
  buffers = &device.batchBuffers(/*ahead=*/true);
  {
    const std::lock_guard lock(mutex);
    isAsked = true;
  }
  changed.notify_all();
}

} // namespace mtc::runtime
