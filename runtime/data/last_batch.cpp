// Names, checks and messages of --last-batch.
#include "runtime/data/last_batch.h"

#include "runtime/data/label_fill.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>

namespace mtc::runtime {

static constexpr struct {
  LastBatch last;
  const char *name;
} names[] = {{LastBatch::Wrap, "wrap"}, {LastBatch::Drop, "drop"}, {LastBatch::Mask, "mask"}};

const char *nameOf(LastBatch last) {
  for (const auto &each : names)
    if (each.last == last)
      return each.name;
  return "";
}

std::optional<LastBatch> lastBatchOfName(std::string_view name) {
  for (const auto &each : names)
    if (name == each.name)
      return each.last;
  return std::nullopt;
}

bool canMask(const MtcProgram &program) {
  return std::any_of(
      program.inputs, program.inputs + program.input_count,
      [](const MtcInput &input) { return canIgnore(input) || isLossWeights(input); });
}

/// Returns "a batch has 32", with the micro-batches if there are several.
static std::string takes(const MtcProgram &program, int64_t batch) {
  const int64_t pieces = program.accumulation.micro_steps;
  return text("a batch has ", batch,
              pieces > 1 ? text(" (", pieces, " of ", batch / pieces, ": --accumulate)") : "");
}

void checkLastBatch(LastBatch last, const MtcProgram &program, int64_t rows, int64_t batch) {
  if (last == LastBatch::Drop && rows < batch)
    userError("--last-batch drop: the data has ", rows, " samples and ", takes(program, batch),
              "; compile for a smaller batch");
  if (last == LastBatch::Mask && !canMask(program))
    userError("--last-batch mask: the loss ", program.loss,
              " has no labels of classes, of which it could ignore some; compile with "
              "--loss-weights auto. wrap and drop are for every loss");
}

std::string describeLastBatch(LastBatch last, const MtcProgram &program, int64_t rows,
                              int64_t batch, int64_t steps) {
  const int64_t rest = rows % batch;
  if (rest == 0 || last == LastBatch::Mask)
    return "";
  const char *mask = canMask(program) ? ", --last-batch mask counts them separately" : "";
  if (rows < batch)
    return text("the data has ", rows, " samples and ", takes(program, batch),
                ": each batch repeats samples (--last-batch wrap)",
                canMask(program) ? "; --last-batch mask counts each sample once" : "",
                "; a program for a smaller batch uses each sample once");
  if (last == LastBatch::Drop)
    return text("the last ", rest, " of ", rows, " samples do not fill a batch of ", batch,
                " and are skipped in each epoch (--last-batch drop)");
  if (steps <= rows / batch) // The run ends before the end of the first epoch.
    return "";
  return text("the last ", rest, " of ", rows, " samples do not fill a batch of ", batch,
              " and share one with the next epoch's first (--last-batch wrap); --last-batch drop "
              "skips them",
              mask);
}

} // namespace mtc::runtime
