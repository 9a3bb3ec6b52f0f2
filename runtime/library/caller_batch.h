// Batches in the caller's memory.
#ifndef MTC_RUNTIME_LIBRARY_CALLER_BATCH_H
#define MTC_RUNTIME_LIBRARY_CALLER_BATCH_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

enum class BatchUse { Train, Evaluate, Infer };

/// A batch of the caller: the memory of each input in the program's order. A null pointer stands
/// for labels that are derived from tokens, or, for `Infer`, for labels that are not needed. Inputs
/// with a batch axis have `samples` samples, or one if `samples` is 0.
struct CallerBatch {
  const void *const *inputs;
  int64_t samples;
};

/// Throws a user error if the program cannot use a batch of this number of samples.
void checkSamples(const MtcProgram &program, int64_t samples, BatchUse use);

/// Copies a batch to the program's input buffers. The last sample is repeated until the buffers are
/// full; in training, the repeated samples are excluded from the loss. A pointer that equals the
/// buffer of its input is not copied. Throws a user error if an input is missing or has a value
/// that the program does not accept.
void loadBatch(const MtcProgram &program, const CallerBatch &batch, BatchUse use,
               const std::vector<char *> &buffers);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LIBRARY_CALLER_BATCH_H
