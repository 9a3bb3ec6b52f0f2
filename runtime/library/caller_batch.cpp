// Copies, padding and checks of a batch.
#include "runtime/library/caller_batch.h"

#include "runtime/data/label_fill.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/value_range.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

void checkSamples(const MtcProgram &program, int64_t samples, BatchUse use) {
  // An empty batch completes the micro-steps of an update.
  const int64_t minimum = use == BatchUse::Train && program.accumulation.micro_steps > 1 ? 0 : 1;
  if (samples > program.batch)
    userError("a batch of ", samples, " samples: the model was compiled for batches of ",
              program.batch, "; pass smaller batches, or compile with --dim batch=", samples);
  if (samples < minimum)
    userError("a batch of ", samples, " samples: expected ", minimum, " to ", program.batch);
  if (samples == program.batch || use == BatchUse::Infer)
    return;
  const bool isOutput = std::strcmp(program.loss, "output") == 0;
  if (use == BatchUse::Train && !canMask(program))
    userError("a batch of ", samples, " samples: the loss ",
              isOutput ? "of the model" : program.loss,
              " cannot exclude samples, so each training batch needs ", program.batch, " samples; ",
              isOutput ? "" : "compile with --loss-weights auto, or ",
              "leave out the last batch of an epoch (drop_last=True of a DataLoader)");
  if (use == BatchUse::Evaluate && !hasRowLoss(program))
    userError("a batch of ", samples,
              " samples: the loss of this model is known for whole batches of ", program.batch,
              " only; leave out the last batch (drop_last=True of a DataLoader)");
}

/// Copies the samples of an input, and repeats the last one.
static void copySamples(const MtcProgram &program, const MtcInput &input, int64_t samples,
                        const char *from, char *to) {
  if (input.is_whole) {
    if (from != to)
      std::memcpy(to, from, static_cast<size_t>(input.tensor.bytes));
    return;
  }
  const int64_t size = input.tensor.bytes / program.batch, held = std::max<int64_t>(samples, 1);
  if (from != to)
    std::memcpy(to, from, static_cast<size_t>(held * size));
  for (int64_t i = held; i < program.batch; ++i)
    std::memcpy(to + i * size, to + (held - 1) * size, static_cast<size_t>(size));
}

/// Computes labels of the next tokens from the buffers of other inputs.
static void deriveLabels(const MtcProgram &program, const CallerBatch &batch, uint32_t index,
                         const std::vector<char *> &buffers) {
  const MtcInput &labels = program.inputs[index];
  const auto tokens = static_cast<uint32_t>(labels.shifted_from);
  shiftTokens(program.inputs[tokens], buffers[tokens], labels, buffers[index]);
  if (const int32_t mask = findPaddingMask(program, labels); mask >= 0 && batch.inputs[mask])
    ignorePadding(program.inputs[mask], buffers[static_cast<size_t>(mask)], labels, buffers[index]);
}

/// Returns the problem with the values of an input, or "".
static std::string checkValues(const MtcInput &input, const char *values) {
  if (!hasRange(input))
    return "";
  const int64_t count = input.tensor.bytes / typeBytes(input.tensor.type);
  const std::optional<WrongValue> wrong = findWrongValue(input, values, count);
  return wrong ? text("input '", input.tensor.name, "': element ", wrong->index, " is ",
                      wrong->value, "; expected ", rangeText(input))
               : "";
}

void loadBatch(const MtcProgram &program, const CallerBatch &batch, BatchUse use,
               const std::vector<char *> &buffers) {
  Problems problems;
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (const auto *from = static_cast<const char *>(batch.inputs[i])) {
      copySamples(program, program.inputs[i], batch.samples, from, buffers[i]);
      if (const std::string problem = checkValues(program.inputs[i], buffers[i]); !problem.empty())
        problems.add(problem);
    }
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    if (batch.inputs[i])
      continue;
    if (isLossWeights(input))
      fillLossWeights(input, buffers[i]);
    else if (input.is_label && use == BatchUse::Infer)
      fillIgnored(input, input.tensor.rank ? input.tensor.dims[0] : 1, buffers[i]);
    else if (input.is_of_outputs && use != BatchUse::Infer)
      std::memset(buffers[i], 0, static_cast<size_t>(input.tensor.bytes));
    else if (input.shifted_from >= 0 && batch.inputs[input.shifted_from])
      deriveLabels(program, batch, i, buffers);
    else
      problems.add("input '", input.tensor.name, "': no data; expected ",
                   typeName(input.tensor.type), " ", shapeText(shapeOf(input.tensor)));
  }
  problems.throwIfAny();
  if (use == BatchUse::Train && batch.samples < program.batch)
    for (uint32_t i = 0; i < program.input_count; ++i)
      excludeSamples(program.inputs[i], program.batch - batch.samples, buffers[i]);
}

} // namespace mtc::runtime
