// Loads the batches of the steps; prefetches each one during the previous step.
#ifndef MTC_RUNTIME_LOOP_BATCH_READER_H
#define MTC_RUNTIME_LOOP_BATCH_READER_H

#include "runtime/data/dataset.h"
#include "runtime/devices/device.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace mtc::runtime {

/// Loads batches of data sets into the program's inputs. Allocates no memory after the first few
/// batches.
class BatchReader {
public:
  BatchReader(const MtcProgram &program, Device &device) : program(program), device(device) {}
  BatchReader(const BatchReader &) = delete;
  BatchReader &operator=(const BatchReader &) = delete;
  /// Waits for the read in progress.
  ~BatchReader();

  /// Copies a batch of `data` to the inputs. Throws the errors of the batch, including those of its
  /// prefetch. If the program has a staging buffer and `next` is not empty, a separate thread reads
  /// `next` of the same data into the staging buffer until the next call.
  void load(Dataset &data, const Batch &batch, const Batch &next);

  /// Reusable storage for callers that compute both batches for each step.
  struct {
    Batch batch, next;
  } lists;

private:
  bool waitForStaged(const Dataset &data, const Batch &batch);
  bool hasThread();
  void readAsAsked();

  const MtcProgram &program;
  Device &device;

  std::thread thread; ///< started on first use
  std::mutex mutex;
  std::condition_variable changed;
  bool isAsked = false, isStopped = false; ///< guarded by `mutex`
  bool isStaged = false;                   ///< the read of `staged` was requested
  Batch staged;
  Dataset *source = nullptr;                    ///< data set of `staged`
  const std::vector<char *> *buffers = nullptr; ///< destination of `staged`
  std::exception_ptr problem;                   ///< error while reading `staged`
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_BATCH_READER_H
