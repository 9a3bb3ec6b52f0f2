// One table of flags serves parsing, suggestions and help.
#include "runtime/loop/options.h"

#include "runtime/data/data_column.h"
#include "runtime/state/adapters.h"
#include "runtime/state/averages.h"
#include "runtime/support/closest_name.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace mtc::runtime {
namespace {

/// What is known of the flag being read.
struct Value {
  const MtcProgram &program;
  const std::string &flag, &text;

  template <typename Number> Number number(Number min, Number max) const {
    Number result{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < min || result > max)
      userError(flag, " ", text, ": a whole number of at least ", min,
                max == std::numeric_limits<Number>::max() ? std::string()
                                                          : runtime::text(" and at most ", max),
                " is expected");
    return result;
  }
  int64_t count(int64_t min) const {
    return number<int64_t>(min, std::numeric_limits<int64_t>::max());
  }
  std::string file() const {
    if (text.empty())
      userError(flag, ": the name of a file is expected");
    return text;
  }
};

struct Flag {
  const char *name;
  const char *value; ///< what follows it, for the help; null for a switch
  const char *help;
  void (*apply)(Options &, const Value &);

  /// Whether its value may be left out, and is attached by `=` otherwise.
  bool isOptional() const { return value && value[0] == '['; }
};

/// NAME=FILE, where NAME and FILE may hold `=` too: NAME is the longest input's name that fits.
void addData(Options &options, const Value &value) {
  size_t equals = value.text.find('='), longest = 0;
  for (uint32_t i = 0; i < value.program.input_count; ++i) {
    const std::string start = std::string(value.program.inputs[i].tensor.name) + "=";
    if (start.size() > longest && value.text.rfind(start, 0) == 0) {
      longest = start.size();
      equals = longest - 1;
    }
  }
  if (equals == std::string::npos || equals == 0 || equals + 1 == value.text.size())
    userError("--data ", value.text, ": NAME=FILE is expected");
  options.data.emplace_back(value.text.substr(0, equals), value.text.substr(equals + 1));
}

void setShuffle(Options &options, bool shuffle) {
  if (options.shuffle && *options.shuffle != shuffle)
    userError("--shuffle and --no-shuffle contradict each other; give one of them");
  options.shuffle = shuffle;
}

void setLastBatch(Options &options, const Value &value) {
  options.lastBatch = lastBatchOfName(value.text);
  if (!options.lastBatch)
    userError(value.flag, " ", value.text, ": wrap, drop or mask is expected");
}

const Flag flags[] = {
    {"--data", "NAME=FILE",
     "rows for an input, once for each: .npy, .safetensors (FILE:TENSOR) or token .bin\n"
     "(FILE:TYPE says what a token is: u16, u32, ...). The first axis counts rows, or,\n"
     "of files with an axis more than the input, steps. Labels of causal-lm are the next\n"
     "tokens: those of a token .bin follow from it, Hugging Face's have to be shifted",
     addData},
    {"--steps", "N", "train until step N",
     [](Options &o, const Value &v) { o.steps = v.count(1); }},
    {"--epochs", "N",
     "train until each row was taken N times, but for what --last-batch drops (default: 1)",
     [](Options &o, const Value &v) { o.epochs = v.count(1); }},
    {"--shuffle", nullptr, "shuffle the rows anew for each epoch (default)",
     [](Options &o, const Value &) { setShuffle(o, true); }},
    {"--no-shuffle", nullptr, "take rows as the file has them",
     [](Options &o, const Value &) { setShuffle(o, false); }},
    {"--schedule-steps", "N",
     "the step at which the learning rate's schedule ends (default: the run's last step;\n"
     "with --resume, where the checkpoint's schedule ends)",
     [](Options &o, const Value &v) { o.scheduleSteps = v.count(1); }},
    {"--on-nan", "stop|continue",
     "what to do at a loss that is not finite: stop, keep the checkpoint before it and\n"
     "exit with 2 (default), or train on and save all the same. With a loss scale such a\n"
     "step is skipped; what to do at one when the scale can fall no further",
     [](Options &o, const Value &v) {
       if (v.text != "stop" && v.text != "continue")
         userError(v.flag, " ", v.text, ": stop or continue is expected");
       o.continuesOnNan = v.text == "continue";
     }},
    {"--last-batch", "HOW",
     "rows left at the end of an epoch: wrap (share a batch with the next epoch's first;\n"
     "default), drop (leave them out), mask (a batch of their own, filled up with rows\n"
     "whose labels are ignored: for losses of classes)",
     setLastBatch},
    {"--seed", "N", "of the order and of random operators (default: 0)",
     [](Options &o, const Value &v) { o.seed = v.number<uint64_t>(0, INT64_MAX); }},
    {"--metrics", "FILE",
     "write one line of JSON a step: step, loss, lr, step_seconds; grad_norm where the\n"
     "program was compiled with --clip-norm or --grad-norm; loss_scale and skipped where\n"
     "it scales its loss",
     [](Options &o, const Value &v) { o.metrics = v.file(); }},
    {"--save", "DIR", "write a checkpoint at the end, and when a signal stops the run",
     [](Options &o, const Value &v) { o.save = v.file(); }},
    {"--save-every", "N", "write one every N steps too",
     [](Options &o, const Value &v) { o.saveEvery = v.count(1); }},
    {"--overwrite", nullptr, "let --save replace a checkpoint that --resume does not go on from",
     [](Options &o, const Value &) { o.overwrites = true; }},
    {"--resume", "DIR", "go on from a checkpoint, to the same bits as without the pause",
     [](Options &o, const Value &v) { o.resume = v.file(); }},
    {"--weights", "FILE",
     "start from these weights, not from those beside the program: a safetensors file of a\n"
     "module's state_dict(), or a folder of save_pretrained; with --resume, of what is frozen",
     [](Options &o, const Value &v) { o.weights = v.file(); }},
    {"--export", "FILE",
     "at the end, write the model with its trained weights (.onnx) in inference form:\n"
     "dropout off, batch normalization by its running statistics",
     [](Options &o, const Value &v) { o.exportTo = v.file(); }},
    {"--export-weights", "FILE",
     "at the end, write the trained weights as the module's state_dict() has them\n"
     "(.safetensors), for load_state_dict() and --weights",
     [](Options &o, const Value &v) { o.exportWeightsTo = v.file(); }},
    {"--export-training", "FILE", "the same in the form of the file that was compiled",
     [](Options &o, const Value &v) { o.exportTrainingTo = v.file(); }},
    {"--export-adapters", "DIR",
     "at the end, write the adapters of a program compiled with --lora, as PEFT loads them:\n"
     "adapter_model.safetensors and adapter_config.json",
     [](Options &o, const Value &v) { o.exportAdaptersTo = v.file(); }},
    {"--gradients", "FILE",
     "write the gradients of the first step's rows (safetensors), in training mode; no update",
     [](Options &o, const Value &v) { o.gradients = v.file(); }},
    {"--outputs", "FILE",
     "write the model's outputs for all rows (safetensors), in inference mode; no update",
     [](Options &o, const Value &v) { o.outputs = v.file(); }},
    {"--evaluate", nullptr, "print loss and accuracy over all rows, in inference mode; no update",
     [](Options &o, const Value &) { o.evaluate = true; }},
    {"--use-ema", nullptr,
     "let --evaluate, --outputs, --export and --export-weights take the average of the\n"
     "weights over the steps, which a program compiled with --ema keeps",
     [](Options &o, const Value &) { o.useEma = true; }},
    {"--memory-report", "FILE", "write what memory was planned and used (JSON)",
     [](Options &o, const Value &v) { o.memoryReport = v.file(); }},
    {"--profile", "FILE", "write a trace of every operation, for Perfetto",
     [](Options &o, const Value &v) { o.profile = v.file(); }},
    {"--profile-summary", "[=FILE]",
     "print what each kernel's time is, of the step and beside what this machine can;\n"
     "write it to FILE as JSON",
     [](Options &o, const Value &v) {
       o.summarizes = true;
       o.profileSummary = v.text;
     }},
    {"--force", nullptr,
     "let outputs replace files that mtc did not write; never what the run reads",
     [](Options &o, const Value &) { o.isForced = true; }},
    {"--threads", "N", "threads to use (default: all cores, as far as planned)",
     [](Options &o, const Value &v) {
       o.threads = v.number<int>(1, std::numeric_limits<int>::max());
     }},
    {"--device", "N", "the device to run on (default: 0)",
     [](Options &o, const Value &v) { o.device = v.text; }},
    {"--offload-dir", "DIR",
     "where to keep what a program compiled with --offload does not hold in memory, in a\n"
     "file without a name that is gone when the program ends, however it does (default:\n"
     "$TMPDIR, or else /var/tmp)",
     [](Options &o, const Value &v) { o.offloadFolder = v.file(); }},
    {"--quiet", nullptr, "print nothing but warnings and errors",
     [](Options &o, const Value &) { o.quiet = true; }},
    {"--version", nullptr, "print which compiler made this program",
     [](Options &o, const Value &) { o.version = true; }},
    {"--help", nullptr, "print this", [](Options &o, const Value &) { o.help = true; }},
};

const Flag *findFlag(const std::string &name) {
  if (name == "-h")
    return findFlag("--help");
  for (const Flag &flag : flags)
    if (name == flag.name)
      return &flag;
  return nullptr;
}

std::string unknown(const std::string &argument) {
  std::vector<std::string> names;
  for (const Flag &flag : flags)
    names.emplace_back(flag.name);
  return text("unknown ", argument.rfind('-', 0) == 0 ? "flag " : "argument ", argument,
              suggestion(argument, names), "; --help lists all flags");
}

void checkTogether(const MtcProgram &program, Options &options, Problems &problems) {
  int modes = !options.gradients.empty() + !options.outputs.empty() + options.evaluate;
  if (modes > 1)
    problems.add("--gradients, --outputs and --evaluate are different runs; give one of them");
  bool training = options.steps || options.epochs || !options.save.empty() || options.saveEvery ||
                  options.scheduleSteps || options.continuesOnNan;
  if (modes && training)
    problems.add("--gradients, --outputs and --evaluate change no weights; --steps, --epochs, "
                 "--schedule-steps, --on-nan and --save do not go with them");
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
  if (options.useEma && !options.exports() && options.outputs.empty() && !options.evaluate)
    problems.add("--use-ema says what --evaluate, --outputs and --export take; give one of them");
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

Options parseOptions(const MtcProgram &program, const std::vector<std::string> &arguments) {
  Options options;
  Problems problems;
  std::set<const Flag *> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i], value;
    size_t equals = name.find('=');
    bool attached = name.rfind("--", 0) == 0 && equals != std::string::npos;
    if (attached) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const Flag *flag = findFlag(name);
    if (!flag) {
      problems.add(unknown(name));
      // What follows is likely its value, and no mistake of its own.
      if (name.rfind("--", 0) == 0 && i + 1 < arguments.size() &&
          arguments[i + 1].rfind("--", 0) != 0)
        ++i;
      continue;
    }
    if (flag->value && !flag->isOptional() && !attached) {
      if (i + 1 == arguments.size() || arguments[i + 1].rfind("--", 0) == 0) {
        problems.add(name, ": ", flag->value, " is expected after it");
        continue;
      }
      value = arguments[++i];
    } else if (!flag->value && attached) {
      problems.add(name, ": takes no value");
      continue;
    }
    // --data names another input each time.
    if (flag->apply != addData && !given.insert(flag).second) {
      problems.add(flag->name, ": is given twice");
      continue;
    }
    problems.collect([&] { flag->apply(options, Value{program, name, value}); });
  }
  if (!options.help && !options.version)
    checkTogether(program, options, problems);
  problems.throwIfAny();
  if (!options.threads)
    options.threads = static_cast<int>(std::clamp<int64_t>(program.threads, 1, availableCores()));
  return options;
}

/// "8", or "4 x 8" where an update has several micro-steps.
static std::string batchText(const MtcProgram &program) {
  const int64_t microSteps = program.accumulation.micro_steps;
  return text(microSteps > 1 ? text(microSteps, " x ") : "", program.batch);
}

std::string helpText(const MtcProgram &program, const std::string &programName) {
  std::string help =
      text("Trains ", program.model_name, " (", program.loss, ", ", program.optimizer, ", batch ",
           batchText(program), ", ", (program.arena_bytes + (1 << 20) - 1) >> 20,
           " MiB).\n\nusage: ", programName);
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (program.inputs[i].shifted_from < 0)
      help += text(" --data ", program.inputs[i].tensor.name, "=FILE");
  help += " [--steps N] [--save DIR] ...\n\ninputs:\n";
  auto line = [](const MtcTensor &tensor, const std::string &shape, const std::string &note) {
    return text("  ", tensor.name, "  ", typeName(tensor.type), " ", shape, note, "\n");
  };
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    std::string note = input.is_label ? "  labels" : "";
    if (input.shifted_from >= 0)
      note += text("; if left out, ", program.inputs[input.shifted_from].tensor.name,
                   " shifted by one");
    if (input.minimum < input.limit)
      note += text("  ", input.minimum, " to ", input.limit - 1,
                   input.is_label ? text(" or ", input.ignored) : "");
    help += line(input.tensor, shapesOfFiles(input), note);
  }
  if (program.output_count)
    help += "\noutputs:\n";
  for (uint32_t i = 0; i < program.output_count; ++i)
    help += line(program.outputs[i], shapeText(shapeOf(program.outputs[i])), "  of a step");
  help += "\nflags:\n";
  for (const Flag &flag : flags) {
    std::string left = text("  ", flag.name, flag.value && !flag.isOptional() ? " " : "",
                            flag.value ? flag.value : "");
    left.resize(std::max<size_t>(left.size() + 2, 28), ' ');
    std::string right = flag.help;
    for (size_t at = 0; (at = right.find('\n', at)) != std::string::npos; at += 29)
      right.replace(at, 1, "\n" + std::string(28, ' '));
    help += left + right + "\n";
  }
  return help + "\nExit status: 0 done, 1 a mistake in what was given, 2 a fault of the device or "
                "the system, or\ntraining that diverged. At SIGINT, SIGTERM or SIGHUP training "
                "finishes its step, saves if there\nis --save, exports nothing and exits with 128 "
                "+ the signal's number; a second signal ends it\nat once. A step whose micro-steps "
                "take longer than a second more is left out.\n";
}

} // namespace mtc::runtime
