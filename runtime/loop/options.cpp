// A single table of flags, from which parsing, suggestions and help are derived.
#include "runtime/loop/options.h"

#include "runtime/command_line/help.h"
#include "runtime/command_line/parser.h"
#include "runtime/data/data_column.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/state/adapters.h"
#include "runtime/state/averages.h"
#include "runtime/support/closest_name.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace mtc::runtime {
namespace {

/// The flag that is being parsed.
struct Value {
  const MtcProgram &program;
  const std::string &flag, &text;

  template <typename Number> Number number(Number min, Number max) const {
    Number result{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < min || result > max)
      userError(flag, " ", text, ": expected a whole number of at least ", min,
                max == std::numeric_limits<Number>::max() ? std::string()
                                                          : runtime::text(" and at most ", max));
    return result;
  }
  int64_t count(int64_t min) const {
    return number<int64_t>(min, std::numeric_limits<int64_t>::max());
  }
  /// Parses a number as the compiler does. It must be at least 0.
  template <typename Number> Number atLeastZero() const {
    Number result{};
    if (const std::string problem = abi::parseNumber(text, result); !problem.empty())
      userError(flag, " ", text, ": ", problem);
    if (result < 0)
      userError(flag, " ", text, ": expected a number of at least 0");
    return result;
  }
  std::string file() const {
    if (text.empty())
      userError(flag, ": expected the name of a file");
    return text;
  }
};

/// A flag and the option that it sets. The value of a switch is "true".
struct Flag {
  command_line::Flag line;
  void (*apply)(Options &, const Value &);
};

/// Parses NAME=FILE. Because NAME and FILE may contain `=`, NAME is the longest matching input
/// name.
void addColumn(std::vector<std::pair<std::string, std::string>> &columns, const Value &value) {
  size_t equals = value.text.find('='), longest = 0;
  for (uint32_t i = 0; i < value.program.input_count; ++i) {
    const std::string start = std::string(value.program.inputs[i].tensor.name) + "=";
    if (start.size() > longest && value.text.rfind(start, 0) == 0) {
      longest = start.size();
      equals = longest - 1;
    }
  }
  if (equals == std::string::npos || equals == 0 || equals + 1 == value.text.size())
    userError(value.flag, " ", value.text, ": expected NAME=FILE");
  columns.emplace_back(value.text.substr(0, equals), value.text.substr(equals + 1));
}

void setShuffle(Options &options, bool shuffle) {
  if (options.shuffle && *options.shuffle != shuffle)
    userError("--shuffle and --no-shuffle contradict each other; give one of them");
  options.shuffle = shuffle;
}

void setLastBatch(Options &options, const Value &value) {
  // The parser has checked that the value is one of the flag's choices.
  options.lastBatch = lastBatchOfName(value.text);
}

void setValidateEvery(Options &options, const Value &value) {
  options.isValidateEveryGiven = true;
  if (value.text == "epoch")
    return;
  const std::string problem = abi::parseNumber(value.text, options.validateEvery);
  if (!problem.empty() || options.validateEvery < 1)
    userError(value.flag, " ", value.text,
              ": expected a whole number of steps of at least 1, or epoch");
}

void setScheduleTable(Options &options, const Value &value) {
  options.schedule.table = value.file();
  options.schedule.points = readScheduleTable(value.text);
}

std::vector<command_line::Choice> scheduleChoices() {
  std::vector<command_line::Choice> choices;
  for (const abi::Schedule &schedule : abi::schedules)
    choices.push_back({schedule.name, schedule.help});
  return choices;
}

const std::vector<Flag> flags = {
    {{.name = "data",
      .value = "NAME=FILE",
      .summary = "Data of an input: .npy, .safetensors or a token .bin",
      .detail = "FILE:TENSOR names a tensor of a .safetensors file, FILE:TYPE the token type of a "
                ".bin (u16, u32). The first axis is the batch, or, in files with one axis more "
                "than the input, the step. Labels of causal-lm are the next tokens: those of a "
                "token .bin follow from it, Hugging Face's must be shifted by one.",
      .defaultValue = "",
      .group = "Data",
      .isCommon = true,
      .isRepeatable = true,
      .choices = {}},
     [](Options &o, const Value &v) { addColumn(o.data, v); }},
    {{.name = "no-shuffle",
      .value = "",
      .summary = "Read samples in the order of the file",
      .defaultValue = "",
      .group = "Data",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &) { setShuffle(o, false); }},
    {{.name = "shuffle",
      .value = "",
      .summary = "Shuffle samples in each epoch, as by default",
      .defaultValue = "",
      .group = "Data",
      .choices = {}},
     [](Options &o, const Value &) { setShuffle(o, true); }},
    {{.name = "last-batch",
      .value = "HOW",
      .summary = "Incomplete last batch of an epoch",
      .defaultValue = "wrap",
      .group = "Data",
      .isCommon = true,
      .choices = {{"wrap", "complete it with samples of the next epoch"},
                  {"drop", "skip its samples"},
                  {"mask", "complete it with samples whose labels are ignored"}}},
     setLastBatch},
    {{.name = "seed",
      .value = "N",
      .summary = "Seed of shuffling and of random operators",
      .defaultValue = "0",
      .group = "Data",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.seed = v.number<uint64_t>(0, INT64_MAX); }},
    {{.name = "steps",
      .value = "N",
      .summary = "Train until step N",
      .defaultValue = "",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.steps = v.count(1); }},
    {{.name = "epochs",
      .value = "N",
      .summary = "Train until epoch N ends",
      .defaultValue = "1",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.epochs = v.count(1); }},
    {{.name = "schedule-steps",
      .value = "N",
      .summary = "Step at which the learning-rate schedule ends",
      .detail = "A resumed run keeps the end of its checkpoint.",
      .defaultValue = "last step of the run",
      .group = "Training",
      .choices = {}},
     [](Options &o, const Value &v) { o.scheduleSteps = v.count(1); }},
    {{.name = "lr",
      .value = "RATE",
      .summary = "Peak learning rate",
      .detail =
          "Replaces the rate of mtc compile. Checkpoints contain the schedule of the run, and "
          "a resumed run keeps it. Parameter groups keep their ratio to the rate.",
      .defaultValue = "as compiled",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.schedule.rate = v.atLeastZero<double>(); }},
    {{.name = "schedule",
      .value = "NAME",
      .summary = "Learning-rate schedule after the warm-up",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = scheduleChoices()},
     [](Options &o, const Value &v) { o.schedule.kind = v.text; }},
    {{.name = "min-lr",
      .value = "RATE",
      .summary = "Final learning rate of the schedule",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = {}},
     [](Options &o, const Value &v) { o.schedule.least = v.atLeastZero<double>(); }},
    {{.name = "warmup",
      .value = "STEPS",
      .summary = "Steps of linear learning-rate warm-up",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = {}},
     [](Options &o, const Value &v) { o.schedule.warmup = v.atLeastZero<int64_t>(); }},
    {{.name = "decay-steps",
      .value = "STEPS",
      .summary = "Decay steps of the wsd schedule; 0: a tenth of the run",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = {}},
     [](Options &o, const Value &v) { o.schedule.decay = v.atLeastZero<int64_t>(); }},
    {{.name = "schedule-table",
      .value = "STEP:RATE,...",
      .summary = "Points of the table schedule, or a file with one per line",
      .defaultValue = "as compiled",
      .group = "Training",
      .choices = {}},
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
     [](Options &o, const Value &v) { o.continuesOnNan = v.text == "continue"; }},
    {{.name = "weights",
      .value = "FILE|DIR",
      .summary = "Initial weights: .safetensors or a save_pretrained folder",
      .detail =
          "Accepts a state_dict() of the module. With --resume, the weights of frozen parameters.",
      .defaultValue = "",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.weights = v.file(); }},
    {{.name = "validate",
      .value = "NAME=FILE",
      .summary = "Validation data of an input, evaluated during training",
      .detail = "Files as for --data, for every input and the labels. All samples are evaluated in "
                "inference mode. Training is bit-identical to a run without validation.",
      .defaultValue = "",
      .group = "Training",
      .isCommon = true,
      .isRepeatable = true,
      .choices = {}},
     [](Options &o, const Value &v) { addColumn(o.validate, v); }},
    {{.name = "validate-every",
      .value = "N|epoch",
      .summary = "Validate every N steps or each epoch, and at the end",
      .defaultValue = "epoch",
      .group = "Training",
      .choices = {}},
     setValidateEvery},
    {{.name = "keep-best",
      .value = "METRIC",
      .summary = "Keep the checkpoint of the best validation in DIR/best",
      .detail =
          "METRIC is loss, or another metric that --evaluate prints, such as accuracy. DIR is "
          "the folder of --save.",
      .defaultValue = "",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.keepBest = v.text; }},
    {{.name = "early-stop",
      .value = "N",
      .summary = "Stop after N validations without improvement",
      .detail = "Of the metric of --keep-best, by default the loss.",
      .defaultValue = "",
      .group = "Training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.earlyStop = v.count(1); }},
    {{.name = "save",
      .value = "DIR",
      .summary = "Write a checkpoint at the end and on a signal",
      .defaultValue = "",
      .group = "Checkpoints",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.save = v.file(); }},
    {{.name = "save-every",
      .value = "N",
      .summary = "Also write a checkpoint every N steps",
      .defaultValue = "",
      .group = "Checkpoints",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.saveEvery = v.count(1); }},
    {{.name = "keep",
      .value = "N",
      .summary = "Keep the last N checkpoints of --save-every in DIR/step-S",
      .defaultValue = "only the latest, in DIR",
      .group = "Checkpoints",
      .choices = {}},
     [](Options &o, const Value &v) { o.keep = v.count(1); }},
    {{.name = "resume",
      .value = "DIR",
      .summary = "Resume from a checkpoint, bit-identical to one long run",
      .defaultValue = "",
      .group = "Checkpoints",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.resume = v.file(); }},
    {{.name = "overwrite",
      .value = "",
      .summary = "Let --save replace a checkpoint of another run",
      .defaultValue = "",
      .group = "Checkpoints",
      .choices = {}},
     [](Options &o, const Value &) { o.overwrites = true; }},
    {{.name = "export",
      .value = "FILE.onnx",
      .summary = "Write the trained model in inference mode",
      .defaultValue = "",
      .group = "Export",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.exportTo = v.file(); }},
    {{.name = "export-training",
      .value = "FILE.onnx",
      .summary = "Write the trained model in the mode of the compiled file",
      .defaultValue = "",
      .group = "Export",
      .choices = {}},
     [](Options &o, const Value &v) { o.exportTrainingTo = v.file(); }},
    {{.name = "export-weights",
      .value = "FILE",
      .summary = "Write the trained weights as a state_dict (.safetensors)",
      .defaultValue = "",
      .group = "Export",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.exportWeightsTo = v.file(); }},
    {{.name = "export-adapters",
      .value = "DIR",
      .summary = "Write the LoRA adapters in the format of PEFT",
      .defaultValue = "",
      .group = "Export",
      .choices = {}},
     [](Options &o, const Value &v) { o.exportAdaptersTo = v.file(); }},
    {{.name = "use-ema",
      .value = "",
      .summary = "Use averaged weights for exports and evaluation (--ema)",
      .defaultValue = "",
      .group = "Export",
      .choices = {}},
     [](Options &o, const Value &) { o.useEma = true; }},
    {{.name = "force",
      .value = "",
      .summary = "Overwrite files that mtc did not write",
      .detail = "Files that the run reads are never replaced.",
      .defaultValue = "",
      .group = "Export",
      .choices = {}},
     [](Options &o, const Value &) { o.isForced = true; }},
    {{.name = "evaluate",
      .value = "",
      .summary = "Print loss and metrics of the data in inference mode",
      .defaultValue = "",
      .group = "Without training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &) { o.evaluate = true; }},
    {{.name = "outputs",
      .value = "FILE",
      .summary = "Write the model outputs in inference mode (.safetensors)",
      .defaultValue = "",
      .group = "Without training",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.outputs = v.file(); }},
    {{.name = "gradients",
      .value = "FILE",
      .summary = "Write the gradients of the first step (.safetensors)",
      .defaultValue = "",
      .group = "Without training",
      .choices = {}},
     [](Options &o, const Value &v) { o.gradients = v.file(); }},
    {{.name = "metrics",
      .value = "FILE",
      .summary = "Write the metrics of each step as a line of JSON",
      .detail = "step, loss, lr and step_seconds; grad_norm with --clip-norm or --grad-norm; "
                "loss_scale and skipped with loss scaling; samples_per_second, and "
                "tokens_per_second of models that read tokens.",
      .defaultValue = "",
      .group = "Reports",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.metrics = v.file(); }},
    {{.name = "tensorboard",
      .value = "DIR",
      .summary = "Write the metrics as an event file for TensorBoard",
      .detail = "A resumed run writes another file, which replaces later steps of earlier files.",
      .defaultValue = "",
      .group = "Reports",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.tensorboard = v.file(); }},
    {{.name = "report",
      .value = "FILE.html",
      .summary = "Write a page with the charts of the run",
      .detail = "The page is written again during the run. A resumed run continues its charts.",
      .defaultValue = "",
      .group = "Reports",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) { o.report = v.file(); }},
    {{.name = "profile-summary",
      .value = "FILE",
      .summary = "Print the time and throughput of each kernel",
      .detail = "With =FILE, also write the summary as JSON.",
      .defaultValue = "",
      .group = "Reports",
      .isValueOptional = true,
      .choices = {}},
     [](Options &o, const Value &v) {
       o.summarizes = true;
       o.profileSummary = v.text == "true" ? "" : v.text;
     }},
    {{.name = "profile",
      .value = "FILE",
      .summary = "Write a trace of every operation for Perfetto",
      .defaultValue = "",
      .group = "Reports",
      .choices = {}},
     [](Options &o, const Value &v) { o.profile = v.file(); }},
    {{.name = "memory-report",
      .value = "FILE",
      .summary = "Write the planned and the used memory as JSON",
      .defaultValue = "",
      .group = "Reports",
      .choices = {}},
     [](Options &o, const Value &v) { o.memoryReport = v.file(); }},
    {{.name = "quiet",
      .value = "",
      .summary = "Print only warnings and errors",
      .defaultValue = "",
      .group = "Reports",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &) { o.quiet = true; }},
    {{.name = "threads",
      .value = "N",
      .summary = "Number of threads",
      .defaultValue = "all cores, as planned",
      .group = "Machine",
      .isCommon = true,
      .choices = {}},
     [](Options &o, const Value &v) {
       o.threads = v.number<int>(1, std::numeric_limits<int>::max());
       o.isThreadsGiven = true;
     }},
    {{.name = "device",
      .value = "N",
      .summary = "Device to run on",
      .detail = "With several ranks, each uses the GPU of its number on its machine, modulo the "
                "number of GPUs.",
      .defaultValue = "0",
      .group = "Machine",
      .choices = {}},
     [](Options &o, const Value &v) { o.device = v.text; }},
    {{.name = "offload-dir",
      .value = "DIR",
      .summary = "Folder of the offload file, on a disk",
      .detail = "The file has no name and disappears when the program ends.",
      .defaultValue = "$TMPDIR or /var/tmp",
      .group = "Machine",
      .choices = {}},
     [](Options &o, const Value &v) { o.offloadFolder = v.file(); }},
    {{.name = "timeout",
      .value = "SECONDS",
      .summary = "Time after which a silent rank ends the run (--ranks)",
      .detail =
          "The other ranks wait while rank 0 writes a checkpoint, so the limit must exceed the "
          "time of a save.",
      .defaultValue = "60",
      .group = "Machine",
      .choices = {}},
     [](Options &o, const Value &v) {
       o.timeout = v.atLeastZero<double>();
       if (o.timeout < 1)
         userError(v.flag, " ", v.text, ": expected at least 1 second");
     }},
    {{.name = "version",
      .value = "",
      .summary = "Print the version of the compiler",
      .defaultValue = "",
      .group = "Help",
      .choices = {}},
     [](Options &o, const Value &) { o.version = true; }},
};

/// Returns whether a flag of validation is given.
bool validates(const Options &options) {
  return !options.validate.empty() || options.isValidateEveryGiven || !options.keepBest.empty() ||
         options.earlyStop;
}

void checkValidation(const MtcProgram &program, const Options &options, Problems &problems) {
  auto needs = [&](bool isGiven, const char *flag) {
    if (isGiven && options.validate.empty())
      problems.add(flag, " needs --validate NAME=FILE");
  };
  needs(options.isValidateEveryGiven, "--validate-every");
  needs(!options.keepBest.empty(), "--keep-best");
  needs(options.earlyStop != 0, "--early-stop");
  if (!options.keepBest.empty() && options.save.empty())
    problems.add("--keep-best needs --save DIR");
  if (!options.keepBest.empty() && !findMetric(program, options.keepBest))
    problems.add("--keep-best ", options.keepBest,
                 ": this program computes no such metric; expected ", metricNames(program));
  if (options.keep && !options.saveEvery)
    problems.add("--keep needs --save-every N");
}

void checkTogether(const MtcProgram &program, Options &options, Problems &problems) {
  int modes = !options.gradients.empty() + !options.outputs.empty() + options.evaluate;
  if (modes > 1)
    problems.add("--gradients, --outputs and --evaluate are different runs; give one of them");
  bool training = options.steps || options.epochs || !options.save.empty() || options.saveEvery ||
                  options.scheduleSteps || options.continuesOnNan || options.schedule.any() ||
                  validates(options);
  if (modes && training)
    problems.add("--gradients, --outputs and --evaluate change no weights; --steps, --epochs, "
                 "--lr, --schedule and its settings, --on-nan, --validate and --save do not go "
                 "with them");
  if (!modes && !options.trains() && (options.schedule.any() || validates(options)))
    problems.add(
        "this run only exports a checkpoint; --validate, --lr, --schedule and its settings "
        "need --data to train with");
  checkValidation(program, options, problems);
  if (modes && (!options.tensorboard.empty() || !options.report.empty()))
    problems.add("--tensorboard and --report describe training; they do not go with --gradients, "
                 "--outputs or --evaluate");
  if (modes && options.exports())
    problems.add("--export, --export-training, --export-weights and --export-adapters write "
                 "trained weights; they do "
                 "not go with --gradients, --outputs or --evaluate");
  if (!options.exportAdaptersTo.empty() && program.adapter_count == 0)
    problems.add("--export-adapters: this program has no adapters; compile it with --lora");
  else if (std::string problem = adapterProblem(program);
           !options.exportAdaptersTo.empty() && !problem.empty())
    problems.add("--export-adapters: ", problem);
  if (options.useEma && !hasAverages(program))
    problems.add("--use-ema: this program keeps no averages of its weights; compile it with --ema");
  if (options.useEma && !options.exports() && options.outputs.empty() && !options.evaluate &&
      options.validate.empty())
    problems.add("--use-ema: has no effect alone; expected --evaluate, --outputs, --validate or "
                 "--export");
  if (options.steps && options.epochs)
    problems.add("--steps and --epochs both say how long to train; give one of them");
  if (options.saveEvery && options.save.empty())
    problems.add("--save-every needs --save DIR");
  if (options.overwrites && options.save.empty())
    problems.add("--overwrite needs --save DIR");
  const bool hasFrozen =
      std::any_of(program.variables, program.variables + program.variable_count,
                  [](const MtcVariable &variable) { return variable.role == MTC_FROZEN; });
  if (!options.resume.empty() && !options.weights.empty() && !hasFrozen)
    problems.add("--resume brings the weights of the checkpoint; --weights does not go with it");
  if (options.summarizes && options.quiet && options.profileSummary.empty())
    problems.add("--profile-summary prints a table; with --quiet give it a file: "
                 "--profile-summary=FILE");
  if (!options.offloadFolder.empty() && !program.disk_arena_bytes)
    problems.add("--offload-dir: this program keeps nothing on a disk; compile it with --offload");
  if (options.threads > program.threads)
    problems.add("--threads ", options.threads, ": memory was planned for at most ",
                 program.threads, " threads; compile with more to use them");
}

} // namespace

bool Options::trains() const {
  bool onlyExports = exports() && data.empty() && !steps && !epochs;
  return gradients.empty() && outputs.empty() && !evaluate && !onlyExports;
}

/// Returns the flags for the parser: those of the table, in order, then the help flags.
static std::vector<command_line::Flag> describeFlags() {
  std::vector<command_line::Flag> lines;
  lines.reserve(flags.size() + 2);
  for (const Flag &flag : flags)
    lines.push_back(flag.line);
  for (command_line::Flag &help : command_line::helpFlags())
    lines.push_back(std::move(help));
  return lines;
}

static std::string describeUnknown(const std::string &spelling) {
  if (spelling == "--batch" || spelling == "--batch-size")
    return text("unknown flag ", spelling,
                "; the batch is set when the program is compiled: mtc compile --dim batch=N");
  std::vector<std::string> names;
  names.reserve(flags.size());
  for (const Flag &flag : flags)
    names.push_back(flag.line.spelling());
  return text("unknown flag ", spelling, suggestion(spelling, names),
              "; --help-all lists every flag");
}

/// Returns why a flag does not accept a value; "" if it does.
static std::string checkValue(const command_line::Flag &flag, const std::string &value) {
  if (flag.value.empty() && value != "true")
    return "takes no value";
  std::string expected;
  for (size_t i = 0; i < flag.choices.size(); ++i) {
    if (flag.choices[i].name == value)
      return "";
    const bool isLast = i + 1 == flag.choices.size();
    expected += (i == 0 ? "expected " : isLast ? " or " : ", ") + flag.choices[i].name;
  }
  return expected;
}

Options parseOptions(const MtcProgram &program, const std::vector<std::string> &arguments) {
  Options options;
  Problems problems;
  const std::vector<command_line::Flag> lines = describeFlags();
  const command_line::ParsedLine parsed = command_line::parse(lines, arguments, describeUnknown);
  for (const std::string &problem : parsed.problems)
    problems.add(problem);
  for (const std::string &operand : parsed.operands)
    problems.add("unknown argument ", operand, "; --help lists the flags");
  for (const command_line::GivenFlag &given : parsed.given) {
    const auto number = static_cast<size_t>(given.flag - lines.data());
    if (number >= flags.size()) {
      options.help = true;
      options.helpsWithAll |= given.flag->name == "help-all";
      continue;
    }
    const std::string name = given.flag->spelling();
    if (std::string problem = checkValue(*given.flag, given.value); !problem.empty())
      problems.add(name, given.flag->value.empty() ? "" : " " + given.value, ": ", problem);
    else
      problems.collect([&] { flags[number].apply(options, Value{program, name, given.value}); });
  }
  if (options.help)
    return options;
  if (!options.version)
    checkTogether(program, options, problems);
  problems.throwIfAny();
  if (!options.threads)
    options.threads = static_cast<int>(std::clamp<int64_t>(program.threads, 1, availableCores()));
  return options;
}

/// Returns "8", or "4 x 8" if a step has several micro-steps.
static std::string batchText(const MtcProgram &program) {
  const int64_t microSteps = program.accumulation.micro_steps;
  return text(microSteps > 1 ? text(microSteps, " x ") : "", program.batch);
}

std::string helpText(const MtcProgram &program, const std::string &programName, bool showsAll) {
  std::string help = text("Usage: ", programName);
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (program.inputs[i].shifted_from < 0)
      help += text(" --data ", program.inputs[i].tensor.name, "=FILE");
  help += text(" [FLAGS]\n\nTrain ", program.model_name, " (loss ", program.loss, ", optimizer ",
               program.optimizer, ", batch ", batchText(program), ", ",
               (program.arena_bytes + (1 << 20) - 1) >> 20, " MiB).\n\nInputs:\n");
  auto line = [](const MtcTensor &tensor, const std::string &shape, const std::string &note) {
    return text("  ", tensor.name, "  ", typeName(tensor.type), " ", shape, note, "\n");
  };
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    std::string note = input.is_label ? "  labels" : "";
    if (input.shifted_from >= 0)
      note +=
          text("  (default: ", program.inputs[input.shifted_from].tensor.name, " shifted by one)");
    if (input.minimum < input.limit)
      note += text("  ", input.minimum, " to ", input.limit - 1,
                   input.is_label ? text(" or ", input.ignored) : "");
    help += line(input.tensor, shapesOfFiles(input), note);
  }
  if (program.output_count)
    help += "\nOutputs:\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    help += line(program.outputs[i], shapeText(shapeOf(program.outputs[i])), "  of a step");
  help += command_line::describeFlags(describeFlags(), showsAll);
  if (!showsAll)
    return help + text("\nRun '", programName, " --help-all' for every flag and the exit codes.\n");
  return help + "\nExit codes: 0 success, 1 invalid input, 2 a fault of the device or the system, "
                "or training that\ndiverged. At SIGINT, SIGTERM or SIGHUP training finishes its "
                "step, saves if --save is given,\nexports nothing and exits with 128 + the "
                "signal's number. A second signal ends the program at once.\n";
}

} // namespace mtc::runtime
