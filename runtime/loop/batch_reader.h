// Batches for the steps, each read while the step before it runs.
#ifndef MTC_RUNTIME_LOOP_BATCH_READER_H
#define MTC_RUNTIME_LOOP_BATCH_READER_H

#include "runtime/data/dataset.h"
#include "runtime/devices/device.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace mtc::runtime {

/// Once it has read a few batches it allocates nothing.
class BatchReader {
public:
  BatchReader(const MtcProgram &program, Dataset &data, Device &device)
      : program(program), data(data), device(device) {}
  BatchReader(const BatchReader &) = delete;
  BatchReader &operator=(const BatchReader &) = delete;
  /// Waits for the end of what is being read.
  ~BatchReader();

  /// Makes a batch the inputs; what is wrong with it is thrown here, whenever it was read. Where
  /// the program has a staging buffer, `next` is read into it until the next call, on a thread of
  /// its own, unless it is empty.
  void load(const Batch &batch, const Batch &next);

  /// For callers that make both anew for each step.
  struct {
    Batch batch, next;
  } lists;

private:
  bool waitForStaged(const Batch &batch);
  bool hasThread();
  void readAsAsked();

  const MtcProgram &program;
  Dataset &data;
  Device &device;

  std::thread thread; ///< from when it is first needed
  std::mutex mutex;
  std::condition_variable changed;
  bool isAsked = false, isStopped = false; ///< guarded
  bool isStaged = false;                   ///< the thread was asked for `staged`
  Batch staged;
  const std::vector<char *> *buffers = nullptr; ///< that it is read to
  std::exception_ptr problem;                   ///< with `staged`
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_BATCH_READER_H
