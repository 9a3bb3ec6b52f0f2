// Batches for the steps, each read while the step before it runs.
#ifndef MTC_RUNTIME_LOOP_BATCH_READER_H
#define MTC_RUNTIME_LOOP_BATCH_READER_H

#include "runtime/data/dataset.h"
#include "runtime/devices/device.h"

#include <cstdint>
#include <future>

namespace mtc::runtime {

class BatchReader {
public:
  BatchReader(const MtcProgram &program, Dataset &data, Device &device)
      : program(program), data(data), device(device) {}
  /// Waits for the end of what is being read.
  ~BatchReader() = default;

  /// Makes a batch the inputs; what is wrong with it is thrown here, whenever it was read. Where
  /// the program has a staging buffer, `next` is read into it until the next call, on a thread of
  /// its own, unless it is empty.
  void load(const Batch &batch, Batch next);

private:
  const MtcProgram &program;
  Dataset &data;
  Device &device;
  Batch staged; ///< what `reading` reads
  std::future<void> reading;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_BATCH_READER_H
