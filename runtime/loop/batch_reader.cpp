// Reading ahead.
#include "runtime/loop/batch_reader.h"

#include <system_error>
#include <utility>

namespace mtc::runtime {

void BatchReader::load(const Batch &batch, Batch next) {
  // A data set is read by one thread at a time.
  if (reading.valid())
    reading.wait();
  const bool isStaged = reading.valid() && staged == batch;
  if (isStaged)
    reading.get();
  else
    data.load(batch, device.batchBuffers(/*ahead=*/false));
  device.takeBatch(isStaged);
  if (!program.staging || next.empty())
    return;
  staged = std::move(next);
  try {
    reading = std::async(std::launch::async, [this, buffers = device.batchBuffers(/*ahead=*/true)] {
      data.load(staged, buffers);
    });
  } catch (const std::system_error &) {
    staged = {}; // No thread to be had: the next call reads it.
  }
}

} // namespace mtc::runtime
