// Parsing, suggestions and help follow from the table of flags.
#include "runtime/loop/options.h"

#include "runtime/data/data_column.h"
#include "runtime/data/file_list.h"
#include "runtime/data/label_fill.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/option_flags.h"
#include "runtime/state/adapters.h"
#include "runtime/state/averages.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"
#include "support/command_line/help.h"
#include "support/command_line/parser.h"
#include "support/terminal/suggestions.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

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
                  !options.settings.empty() || validates(options);
  if (modes && training)
    problems.add("--gradients, --outputs and --evaluate change no weights; --steps, --epochs, "
                 "--lr, --schedule, hyperparameters, --on-nan, --validate and --save cannot be "
                 "combined with them");
  if (!modes && !options.trains() && (options.schedule.any() || validates(options)))
    problems.add(
        "this run only exports a checkpoint; --validate, --lr, --schedule and its settings "
        "need --data to train with");
  checkValidation(program, options, problems);
  if (modes && (!options.tensorboard.empty() || !options.report.empty()))
    problems.add(
        "--tensorboard and --report describe training; they cannot be combined with --gradients, "
        "--outputs or --evaluate");
  if (modes && options.exports())
    problems.add("--export, --export-training, --export-weights and --export-adapters write "
                 "trained weights; they cannot be combined with "
                 "--gradients, --outputs or --evaluate");
  if (!options.exportAdaptersTo.empty() && program.adapter_count == 0)
    problems.add("--export-adapters: this program has no adapters; compile it with --lora");
  else if (std::string problem = adapterProblem(program);
           !options.exportAdaptersTo.empty() && !problem.empty())
    problems.add("--export-adapters: ", problem);
  if (const AdapterModel &model = options.adapterModel;
      options.exportAdaptersTo.empty() && !(model.base + model.task).empty())
    problems.add(model.base.empty() ? "--adapter-task" : "--adapter-base",
                 ": has no effect alone; expected --export-adapters");
  if (options.exportWeightsTo.empty() &&
      (options.weightsFormat.type ||
       options.weightsFormat.maxShardBytes != WeightsFormat().maxShardBytes))
    problems.add(options.weightsFormat.type ? "--export-dtype" : "--max-shard-size",
                 ": has no effect alone; expected --export-weights");
  if (options.useEma && !hasAverages(program))
    problems.add("--use-ema: this program keeps no averages of its weights; compile it with --ema");
  if (options.useEma && !options.exports() && options.outputs.empty() && !options.evaluate &&
      options.validate.empty())
    problems.add("--use-ema: has no effect alone; expected --evaluate, --outputs, --validate or "
                 "--export");
  if (!options.normalizations.empty() && !options.readsData())
    problems.add(flagsOf(options.normalizations), ": this run reads no data; expected --data");
  if (!options.augmentations.empty() && !options.readsData())
    problems.add(flagsOf(options.augmentations), ": this run reads no data; expected --data");
  const bool draws = !options.sampleWeights.empty() || options.balancesClasses;
  if (!options.sampleWeights.empty() && options.balancesClasses)
    problems.add("--sample-weights and --balance-classes both choose samples; give one of them");
  if (draws && options.shuffle == false)
    problems.add("--no-shuffle keeps the order of the file; --sample-weights and "
                 "--balance-classes do not go with it");
  if (draws && !options.trains() && options.gradients.empty())
    problems.add("--sample-weights and --balance-classes choose the samples of training; "
                 "expected a run that trains");
  if (options.steps && options.epochs)
    problems.add("--steps and --epochs both set the length of the training; give one of them");
  if (options.saveEvery && options.save.empty())
    problems.add("--save-every needs --save DIR");
  if (options.overwrites && options.save.empty())
    problems.add("--overwrite needs --save DIR");
  const bool hasFrozen =
      std::any_of(program.variables, program.variables + program.variable_count,
                  [](const MtcVariable &variable) { return variable.role == MTC_FROZEN; });
  if (!options.resume.empty() && !options.weights.empty() && !hasFrozen)
    problems.add(
        "--resume restores the weights of the checkpoint; it cannot be combined with --weights");
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
static std::vector<command_line::Flag> describeFlags(const std::vector<OptionFlag> &flags) {
  std::vector<command_line::Flag> lines;
  lines.reserve(flags.size() + 2);
  for (const OptionFlag &flag : flags)
    lines.push_back(flag.line);
  for (command_line::Flag &help : command_line::helpFlags())
    lines.push_back(std::move(help));
  return lines;
}

static std::string describeUnknown(const MtcProgram &program, const std::string &spelling,
                                   const std::vector<OptionFlag> &flags) {
  for (int64_t i = 0; i < program.absent_setting_count; ++i)
    if (spelling == text("--", program.absent_settings[i].flag))
      return text(spelling, ": this program does not compute with it; compile it with ", spelling,
                  " to set other values here");
  if (spelling == "--batch" || spelling == "--batch-size")
    return text("unknown flag ", spelling,
                "; the batch is set when the program is compiled: mtc compile --dim batch=N");
  std::vector<std::string> names;
  names.reserve(flags.size());
  for (const OptionFlag &flag : flags)
    names.push_back(flag.line.spelling());
  return text("unknown flag ", spelling, terminal::suggestNames(spelling, names),
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
  const std::vector<OptionFlag> flags = optionFlags(program);
  const std::vector<command_line::Flag> lines = describeFlags(flags);
  const command_line::ParsedLine parsed =
      command_line::parse(lines, arguments, [&](const std::string &spelling) {
        return describeUnknown(program, spelling, flags);
      });
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
      problems.collect(
          [&] { flags[number].apply(options, FlagValue{program, name, given.value}); });
  }
  if (options.help)
    return options;
  if (!options.version && !options.describes)
    checkTogether(program, options, problems);
  problems.throwIfAny();
  if (!options.readThreads)
    options.readThreads = std::min(4, availableCores());
  if (!options.threads)
    options.threads = static_cast<int>(std::clamp<int64_t>(program.threads, 1, availableCores()));
  return options;
}

std::vector<std::string> pathsOfData(const std::string &value) {
  std::vector<std::string> paths;
  Problems reportedByDataset;
  reportedByDataset.collect([&] {
    for (FileChoice &file : listDataFiles(value))
      paths.push_back(std::move(file.path));
  });
  return paths;
}

/// Returns "8", or "4 x 8" if a step has several micro-steps.
static std::string batchText(const MtcProgram &program) {
  const int64_t microSteps = program.accumulation.micro_steps;
  return text(microSteps > 1 ? text(microSteps, " x ") : "", program.batch);
}

std::string helpText(const MtcProgram &program, const std::string &programName, bool showsAll) {
  std::string help = text("Usage: ", programName);
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (program.inputs[i].shifted_from < 0 && !program.inputs[i].is_of_outputs &&
        !isLossWeights(program.inputs[i]))
      help += text(" --data ", program.inputs[i].tensor.name, "=FILE");
  help += text(" [FLAGS]\n\nTrain ", program.model_name, " (loss ", program.loss, ", optimizer ",
               program.optimizer, ", batch ", batchText(program), ", ",
               (program.arena_bytes + (1 << 20) - 1) >> 20, " MiB).\n\nInputs:\n");
  auto line = [](const MtcTensor &tensor, const std::string &shape, const std::string &note) {
    return text("  ", tensor.name, "  ", typeName(tensor.type), " ", shape, note, "\n");
  };
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    std::string note = input.is_label ? "  labels" : input.is_of_outputs ? "  for --outputs" : "";
    if (input.shifted_from >= 0) {
      const int32_t mask = findPaddingMask(program, input);
      note += text(
          "  (default: ", program.inputs[input.shifted_from].tensor.name, " shifted by one",
          mask < 0 ? "" : text(", ignored where ", program.inputs[mask].tensor.name, " is 0"), ")");
    }
    if (input.minimum < input.limit)
      note += text("  ", input.minimum, " to ", input.limit - 1,
                   input.is_label ? text(" or ", input.ignored) : "");
    help += line(input.tensor, shapesOfFiles(input), note);
  }
  if (program.output_count)
    help += "\nOutputs:\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    help += line(program.outputs[i], shapeText(shapeOf(program.outputs[i])), "  of a step");
  help += command_line::describeFlags(describeFlags(optionFlags(program)), showsAll);
  if (!showsAll)
    return help + text("\nRun '", programName, " --help-all' for every flag and the exit codes.\n");
  return help + "\nExit codes: 0 success, 1 invalid input, 2 a fault of the device or the system, "
                "or training that\ndiverged. At SIGINT, SIGTERM or SIGHUP training finishes its "
                "step, saves if --save is given,\nexports nothing and exits with 128 + the "
                "signal's number. A second signal ends the program at once.\n";
}

} // namespace mtc::runtime
