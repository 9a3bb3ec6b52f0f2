// A single table of flags, from which parsing, suggestions and help are derived.
#include "runtime/loop/option_flags.h"

#include "runtime/loop/data_flags.h"
#include "runtime/loop/setting_flags.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace mtc::runtime {

int64_t FlagValue::bytes() const {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const size_t power =
      unit.empty() ? std::string_view::npos : std::string_view("KMGT").find(unit[0]);
  double factor = 1;
  if (power != std::string_view::npos) {
    unit.remove_prefix(1);
    const bool isBinary = unit.starts_with('i');
    unit.remove_prefix(isBinary);
    factor = std::pow(isBinary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  }
  const double result = number * factor;
  if (error != std::errc() || unit != "B" || !(result >= 1 && result < 9e18))
    userError(flag, " ", text, ": expected a size such as 500MB, 5GB or 2GiB");
  return static_cast<int64_t>(result);
}

namespace {

/// Returns the float types of 16 and 32 bits, which weights can have.
std::vector<command_line::Choice> weightTypes() {
  std::vector<command_line::Choice> choices;
  for (uint32_t type = 0; type < MTC_TYPE_COUNT; ++type)
    if (const int bits = mtc_float_format(type).bits; bits == 16 || bits == 32)
      choices.push_back({typeName(type), plainTypeName(type)});
  return choices;
}

void setValidateEvery(Options &options, const FlagValue &value) {
  options.isValidateEveryGiven = true;
  if (value.text == "epoch")
    return;
  const std::string problem = abi::parseNumber(value.text, options.validateEvery);
  if (!problem.empty() || options.validateEvery < 1)
    userError(value.flag, " ", value.text,
              ": expected a whole number of steps of at least 1, or epoch");
}

void setScheduleTable(Options &options, const FlagValue &value) {
  options.schedule.table = value.file();
  options.schedule.points = readScheduleTable(value.text);
}

std::vector<command_line::Choice> scheduleChoices() {
  std::vector<command_line::Choice> choices;
  for (const abi::Schedule &schedule : abi::schedules)
    choices.push_back({schedule.name, schedule.help});
  return choices;
}

const std::vector<OptionFlag> flagsOfRuns = {
    {{.name = "steps",
      .value = "N",
      .summary = "Train until step N",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.steps = v.count(1); }},
    {{.name = "epochs",
      .value = "N",
      .summary = "Train until epoch N ends",
      .defaultValue = "1",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.epochs = v.count(1); }},
    {{.name = "schedule-steps",
      .value = "N",
      .summary = "Step at which the learning-rate schedule ends",
      .detail = "A resumed run keeps the end of its checkpoint.",
      .defaultValue = "last step of the run",
      .group = "Training"},
     [](Options &o, const FlagValue &v) { o.scheduleSteps = v.count(1); }},
    {{.name = "lr",
      .value = "RATE",
      .summary = "Peak learning rate",
      .detail =
          "Replaces the rate of mtc compile. Checkpoints contain the schedule of the run, and "
          "a resumed run keeps it. Parameter groups keep their ratio to the rate.",
      .defaultValue = "as compiled",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.schedule.rate = v.rate(); }},
    {{.name = "schedule",
      .value = "NAME",
      .summary = "Learning-rate schedule after the warm-up",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = scheduleChoices()},
     [](Options &o, const FlagValue &v) { o.schedule.kind = v.text; }},
    {{.name = "min-lr",
      .value = "RATE",
      .summary = "Final learning rate of the schedule",
      .defaultValue = "as compiled",
      .group = "Training"},
     [](Options &o, const FlagValue &v) { o.schedule.minRate = v.rate(); }},
    {{.name = "warmup",
      .value = "STEPS",
      .summary = "Steps of linear learning-rate warm-up",
      .defaultValue = "as compiled",
      .group = "Training"},
     [](Options &o, const FlagValue &v) { o.schedule.warmup = v.atLeastZero<int64_t>(); }},
    {{.name = "decay-steps",
      .value = "STEPS",
      .summary = "Decay steps of the wsd schedule; 0: a tenth of the run",
      .defaultValue = "as compiled",
      .group = "Training"},
     [](Options &o, const FlagValue &v) { o.schedule.decay = v.atLeastZero<int64_t>(); }},
    {{.name = "schedule-table",
      .value = "STEP:RATE,...",
      .summary = "Points of the table schedule, or a file with one per line",
      .defaultValue = "as compiled",
      .group = "Training"},
     setScheduleTable},
    {{.name = "on-nan",
      .value = "ACTION",
      .summary = "Action on a loss that is not finite",
      .detail = "With loss scaling the step is skipped, and the action is taken once the scale "
                "cannot decrease further.",
      .defaultValue = "stop",
      .group = "Training",
      .choices = {{"stop", "keep the last checkpoint and exit with 2"},
                  {"continue", "train on and save"}}},
     [](Options &o, const FlagValue &v) { o.continuesOnNan = v.text == "continue"; }},
    {{.name = "weights",
      .value = "FILE|DIR",
      .summary = "Initial weights: .safetensors or a save_pretrained folder",
      .detail =
          "Accepts a state_dict() of the module. With --resume, the weights of frozen parameters.",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.weights = v.file(); }},
    {{.name = "validate",
      .value = "NAME=FILE",
      .summary = "Validation data of an input, evaluated during training",
      .detail = "Files as for --data, for every input and the labels. All samples are evaluated in "
                "inference mode. Training is bit-identical to a run without validation.",
      .group = "Training",
      .isCommon = true,
      .isRepeatable = true},
     [](Options &o, const FlagValue &v) { addDataFile(o.validate, v); }},
    {{.name = "validate-every",
      .value = "N|epoch",
      .summary = "Validate every N steps or each epoch, and at the end",
      .defaultValue = "epoch",
      .group = "Training"},
     setValidateEvery},
    {{.name = "keep-best",
      .value = "METRIC",
      .summary = "Keep the checkpoint of the best validation in DIR/best",
      .detail =
          "METRIC is loss, or another metric that --evaluate prints, such as accuracy. DIR is "
          "the folder of --save.",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.keepBest = v.text; }},
    {{.name = "early-stop",
      .value = "N",
      .summary = "Stop after N validations without improvement",
      .detail = "Of the metric of --keep-best, by default the loss.",
      .group = "Training",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.earlyStop = v.count(1); }},
    {.line = {.name = "save",
              .value = "DIR",
              .summary = "Write a checkpoint at the end and on a signal",
              .group = "Checkpoints",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.save = v.file(); },
     .writesFiles = true},
    {{.name = "save-every",
      .value = "N",
      .summary = "Also write a checkpoint every N steps",
      .group = "Checkpoints",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.saveEvery = v.count(1); }},
    {{.name = "keep",
      .value = "N",
      .summary = "Keep the last N checkpoints of --save-every in DIR/step-S",
      .defaultValue = "only the latest, in DIR",
      .group = "Checkpoints"},
     [](Options &o, const FlagValue &v) { o.keep = v.count(1); }},
    {{.name = "resume",
      .value = "DIR",
      .summary = "Resume from a checkpoint, bit-identical to one long run",
      .group = "Checkpoints",
      .isCommon = true},
     [](Options &o, const FlagValue &v) { o.resume = v.file(); }},
    {{.name = "overwrite",
      .value = "",
      .summary = "Let --save replace a checkpoint of another run",
      .group = "Checkpoints"},
     [](Options &o, const FlagValue &) { o.overwrites = true; }},
    {.line = {.name = "export",
              .value = "FILE.onnx",
              .summary = "Write the trained model in inference mode",
              .group = "Export",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.exportTo = v.file(); },
     .writesFiles = true},
    {.line = {.name = "export-training",
              .value = "FILE.onnx",
              .summary = "Write the trained model in the mode of the compiled file",
              .group = "Export"},
     .apply = [](Options &o, const FlagValue &v) { o.exportTrainingTo = v.file(); },
     .writesFiles = true},
    {.line = {.name = "export-weights",
              .value = "DIR|FILE",
              .summary = "Write the trained weights for from_pretrained",
              .detail =
                  "A folder has the names and types of the loaded weights, and copies of their "
                  "configuration and tokenizer. FILE.safetensors is the module's state_dict().",
              .group = "Export",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.exportWeightsTo = v.file(); },
     .writesFiles = true},
    {{.name = "export-dtype",
      .value = "TYPE",
      .summary = "Type of the weights of --export-weights",
      .defaultValue = "as loaded in a folder, f32 in a file",
      .group = "Export",
      .choices = weightTypes()},
     [](Options &o, const FlagValue &v) { o.weightsFormat.type = typeOfName(v.text); }},
    {{.name = "max-shard-size",
      .value = "SIZE",
      .summary = "Maximum size of a file of --export-weights DIR",
      .defaultValue = "5GB",
      .group = "Export"},
     [](Options &o, const FlagValue &v) { o.weightsFormat.maxShardBytes = v.bytes(); }},
    {.line = {.name = "export-adapters",
              .value = "DIR",
              .summary = "Write the LoRA adapters in the format of PEFT",
              .group = "Export"},
     .apply = [](Options &o, const FlagValue &v) { o.exportAdaptersTo = v.file(); },
     .writesFiles = true},
    {{.name = "adapter-base",
      .value = "NAME",
      .summary = "Base model to name in the configuration of the adapters",
      .detail = "A name or path for from_pretrained: base_model_name_or_path of PEFT.",
      .group = "Export"},
     [](Options &o, const FlagValue &v) { o.adapterModel.base = v.text; }},
    {{.name = "adapter-task",
      .value = "TASK",
      .summary = "Task to name in the configuration of the adapters",
      .detail = "task_type of PEFT.",
      .group = "Export",
      .choices = {{"CAUSAL_LM", "causal language model"},
                  {"SEQ_CLS", "classification of sequences"},
                  {"TOKEN_CLS", "classification of tokens"},
                  {"SEQ_2_SEQ_LM", "sequence-to-sequence language model"},
                  {"QUESTION_ANS", "extraction of answers"},
                  {"FEATURE_EXTRACTION", "embeddings"}}},
     [](Options &o, const FlagValue &v) { o.adapterModel.task = v.text; }},
    {{.name = "use-ema",
      .value = "",
      .summary = "Use averaged weights for exports and evaluation (--ema)",
      .group = "Export"},
     [](Options &o, const FlagValue &) { o.useEma = true; }},
    {{.name = "force",
      .value = "",
      .summary = "Overwrite files that mtc did not write",
      .detail = "Files that the run reads are never replaced.",
      .group = "Export"},
     [](Options &o, const FlagValue &) { o.isForced = true; }},
    {{.name = "evaluate",
      .value = "",
      .summary = "Print loss and metrics of the data in inference mode",
      .group = "Without training",
      .isCommon = true},
     [](Options &o, const FlagValue &) { o.evaluate = true; }},
    {.line = {.name = "outputs",
              .value = "FILE",
              .summary = "Write the model outputs in inference mode (.safetensors)",
              .group = "Without training",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.outputs = v.file(); },
     .writesFiles = true},
    {.line = {.name = "gradients",
              .value = "FILE",
              .summary = "Write the gradients of the first step (.safetensors)",
              .group = "Without training"},
     .apply = [](Options &o, const FlagValue &v) { o.gradients = v.file(); },
     .writesFiles = true},
    {.line = {.name = "metrics",
              .value = "FILE",
              .summary = "Write the metrics of each step as a line of JSON",
              .detail =
                  "step, loss, lr and step_seconds; grad_norm with --clip-norm or --grad-norm; "
                  "loss_scale and skipped with loss scaling; samples_per_second, and "
                  "tokens_per_second of models that read tokens.",
              .group = "Reports",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.metrics = v.file(); },
     .writesFiles = true},
    {.line = {.name = "tensorboard",
              .value = "DIR",
              .summary = "Write the metrics as an event file for TensorBoard",
              .detail =
                  "A resumed run writes another file, which replaces later steps of earlier files.",
              .group = "Reports",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.tensorboard = v.file(); },
     .writesFiles = true},
    {.line = {.name = "report",
              .value = "FILE.html",
              .summary = "Write a page with the charts of the run",
              .detail =
                  "The page is written again during the run. A resumed run continues its charts.",
              .group = "Reports",
              .isCommon = true},
     .apply = [](Options &o, const FlagValue &v) { o.report = v.file(); },
     .writesFiles = true},
    {.line = {.name = "profile-summary",
              .value = "FILE",
              .summary = "Print the time and throughput of each kernel",
              .detail = "With =FILE, also write the summary as JSON.",
              .group = "Reports",
              .isValueOptional = true},
     .apply =
         [](Options &o, const FlagValue &v) {
           o.summarizes = true;
           o.profileSummary = v.text == "true" ? "" : v.text;
         },
     .writesFiles = true},
    {.line = {.name = "profile",
              .value = "FILE",
              .summary = "Write a trace of every operation for Perfetto",
              .group = "Reports"},
     .apply = [](Options &o, const FlagValue &v) { o.profile = v.file(); },
     .writesFiles = true},
    {.line = {.name = "memory-report",
              .value = "FILE",
              .summary = "Write the planned and the used memory as JSON",
              .group = "Reports"},
     .apply = [](Options &o, const FlagValue &v) { o.memoryReport = v.file(); },
     .writesFiles = true},
    {{.name = "quiet",
      .value = "",
      .summary = "Print only warnings and errors",
      .group = "Reports",
      .isCommon = true},
     [](Options &o, const FlagValue &) { o.quiet = true; }},
    {{.name = "threads",
      .value = "N",
      .summary = "Number of threads",
      .defaultValue = "all cores, as planned",
      .group = "Machine",
      .isCommon = true},
     [](Options &o, const FlagValue &v) {
       o.threads = v.number<int>(1, std::numeric_limits<int>::max());
       o.isThreadsGiven = true;
     }},
    {{.name = "device",
      .value = "N",
      .summary = "Device to run on",
      .detail = "With several ranks, each uses the GPU of its number on its machine, modulo the "
                "number of GPUs.",
      .defaultValue = "0",
      .group = "Machine"},
     [](Options &o, const FlagValue &v) { o.device = v.text; }},
    {{.name = "offload-dir",
      .value = "DIR[,DIR...]",
      .summary = "Folder of the offload file, on a disk",
      .detail = "The file has no name and disappears when the program ends. Several folders share "
                "it in stripes of 1 MiB, so that several disks are used at once.",
      .defaultValue = "$TMPDIR or /var/tmp",
      .group = "Machine"},
     [](Options &o, const FlagValue &v) { o.offloadFolder = v.file(); }},
    {{.name = "timeout",
      .value = "SECONDS",
      .summary = "Time after which a silent rank ends the run (--ranks)",
      .detail =
          "The other ranks wait while rank 0 writes a checkpoint, so the limit must exceed the "
          "time of a save.",
      .defaultValue = "60",
      .group = "Machine"},
     [](Options &o, const FlagValue &v) {
       o.timeout = v.atLeastZero<double>();
       if (o.timeout < 1 || o.timeout > abi::maxSeconds)
         userError(v.flag, " ", v.text, ": expected 1 to 1e9 seconds");
     }},
    {{.name = "describe",
      .value = "",
      .summary = "Print the flags and metrics as JSON",
      .group = "Help"},
     [](Options &o, const FlagValue &) { o.describes = true; }},
    {{.name = "version",
      .value = "",
      .summary = "Print the version of the compiler",
      .group = "Help"},
     [](Options &o, const FlagValue &) { o.version = true; }},
};

} // namespace

std::vector<OptionFlag> optionFlags(const MtcProgram &program) {
  std::vector<OptionFlag> all = dataFlags();
  all.insert(all.end(), flagsOfRuns.begin(), flagsOfRuns.end());
  for (OptionFlag &flag : settingFlags(program))
    all.push_back(std::move(flag));
  return all;
}

} // namespace mtc::runtime
