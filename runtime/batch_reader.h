// Batches for the steps, each read while the step before it runs.
#ifndef MTC_RUNTIME_BATCH_READER_H
#define MTC_RUNTIME_BATCH_READER_H

#include "runtime/dataset.h"
#include "runtime/device.h"

#include <cstdint>
#include <future>
#include <vector>

namespace mtc::runtime {

class BatchReader {
public:
  using Rows = std::vector<int64_t>;

  BatchReader(const MtcProgram &program, Dataset &data, Device &device)
      : program(program), data(data), device(device) {}
  /// Waits for the end of what is being read.
  ~BatchReader() = default;

  /// Makes a batch of rows the inputs; what is wrong with them is thrown here, whenever it
  /// was read. Where the program has a staging place, `next` is read into it until the next call,
  /// on a thread of its own; an empty list is no batch.
  void load(const Rows &rows, Rows next);

private:
  const MtcProgram &program;
  Dataset &data;
  Device &device;
  Rows staged; ///< what `reading` reads
  std::future<void> reading;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_BATCH_READER_H
