// Reading ahead, and copying from the staging place.
#include "runtime/batch_reader.h"

#include "runtime/parallel.h"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace mtc::runtime {

void BatchReader::load(const Rows &rows, Rows next) {
  // A data set is read by one thread at a time.
  if (reading.valid())
    reading.wait();
  if (reading.valid() && staged == rows)
    takeStaged();
  else
    data.load(rows, arena.data());
  if (!program.staging || next.empty())
    return;
  staged = std::move(next);
  try {
    reading =
        std::async(std::launch::async, [this] { data.load(staged, arena.at(program.staging)); });
  } catch (const std::system_error &) {
    // No thread to be had: the next call reads it.
  }
}

void BatchReader::takeStaged() {
  reading.get();
  for (uint32_t i = 0; i < program.input_count; ++i) {
    char *input = arena.at(program.inputs[i].tensor.offset);
    parallelFor(threads, program.inputs[i].tensor.bytes, 1 << 18,
                [&](int, int64_t begin, int64_t end) {
                  std::memcpy(input + begin, input + program.staging + begin,
                              static_cast<size_t>(end - begin));
                });
  }
}

} // namespace mtc::runtime
