//===- Sweep.cpp - `mtc sweep` ----------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Flags.h"
#include "driver/Report.h"
#include "support/compiler/Errors.h"
#include "support/compiler/InputFile.h"
#include "support/compiler/OutputFile.h"
#include "tools/mtc/sweep/Results.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"

#include <csignal>

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;

namespace {

constexpr llvm::StringLiteral runPlaceholder = "{run}";

volatile std::sig_atomic_t isInterrupted = 0;

class Sweep {
public:
  Sweep(const Options &options, std::vector<Setting> settings)
      : options(options.sweep), isQuiet(options.quiet), json(options.json), program(options.model),
        settings(std::move(settings)) {}

  Sweep(const Sweep &) = delete;
  Sweep &operator=(const Sweep &) = delete;
  /// Ends the runs that an error leaves.
  ~Sweep();

  int run();

private:
  struct Child {
    llvm::sys::ProcessInfo process;
    SweepRun run;
  };

  llvm::Error prepare();
  llvm::Error checkOutputs() const;
  std::vector<std::string> commandOf(const SweepRun &run) const;
  std::string recordOf(const SweepRun &run) const;
  bool isCompleted(const SweepRun &run) const;
  llvm::Error start(SweepRun run);
  llvm::Error finishOne();
  void take(SweepRun run);
  int report();

  const SweepOptions &options;
  bool isQuiet, json;
  std::string program;
  SweptProgram swept;
  std::vector<Setting> settings;
  std::vector<Child> running;
  std::vector<SweepRun> done;
  size_t skipped = 0;
};

Sweep::~Sweep() {
  for (const Child &child : running)
    ::kill(child.process.Pid, SIGTERM);
  // A run ends after its step; Wait kills one that does not.
  constexpr unsigned seconds = 10;
  for (const Child &child : running)
    llvm::sys::Wait(child.process, seconds);
}

/// Checks that runs write different files.
llvm::Error Sweep::checkOutputs() const {
  const std::vector<std::string> &words = options.arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (!word.consume_front("--"))
      continue;
    auto [name, value] = word.split('=');
    if (name == "metrics")
      return makeUserError("--metrics: mtc sweep sets it for each run; see its folder in --out");
    if (!word.contains('=') && i + 1 < words.size())
      value = words[i + 1];
    if (swept.outputFlags.contains(name) && !value.contains(runPlaceholder))
      return makeUserError("--" + name + " " + value + ": all runs would write it; use " +
                           runPlaceholder + " for the folder of a run, such as --" + name + " " +
                           runPlaceholder + "/" + name);
  }
  return llvm::Error::success();
}

llvm::Error Sweep::prepare() {
  if (options.folder.empty())
    return makeUserError("mtc sweep: --out DIR is missing, the folder of the results");
  llvm::Expected<SweptProgram> found = SweptProgram::find(program);
  if (!found)
    return found.takeError();
  swept = std::move(*found);
  if (llvm::Error error = checkOutputs())
    return error;
  if (std::error_code error = llvm::sys::fs::create_directories(options.folder))
    return makeUserError("--out " + options.folder + ": " + error.message());
  return llvm::Error::success();
}

/// Returns the program and the arguments of a run.
std::vector<std::string> Sweep::commandOf(const SweepRun &run) const {
  std::vector<std::string> words = {swept.path};
  bool hasThreads = false;
  for (StringRef word : options.arguments) {
    hasThreads |= word == "--threads" || word.starts_with("--threads=");
    std::string text = word.str();
    for (size_t at = text.find(runPlaceholder); at != std::string::npos;
         at = text.find(runPlaceholder, at + run.folder.size()))
      text.replace(at, runPlaceholder.size(), run.folder);
    words.push_back(std::move(text));
  }
  llvm::append_range(words, run.setting.arguments());
  words.insert(words.end(), {"--metrics", run.folder + "/metrics.jsonl", "--quiet"});
  if (options.jobs > 1 && !hasThreads) {
    const int64_t cores = llvm::get_physical_cores();
    words.insert(words.end(),
                 {"--threads", std::to_string(std::max<int64_t>(1, cores / options.jobs))});
  }
  return words;
}

/// Returns the text that marks a completed run: its command.
std::string Sweep::recordOf(const SweepRun &run) const {
  std::string text;
  for (const std::string &word : commandOf(run))
    text += (text.empty() ? "" : " ") + quoteForShell(word);
  return text + "\n";
}

bool Sweep::isCompleted(const SweepRun &run) const {
  llvm::Expected<InputFile> record =
      readInputFile(run.folder + "/completed", 1 << 20, FileForm::Text);
  if (!record) {
    llvm::consumeError(record.takeError());
    return false;
  }
  return record->bytes() == recordOf(run);
}

llvm::Error Sweep::start(SweepRun run) {
  if (std::error_code error = llvm::sys::fs::create_directories(run.folder))
    return makeUserError(run.folder + ": " + error.message());
  const std::string log = run.folder + "/log", metrics = run.folder + "/metrics.jsonl";
  if (std::error_code error = llvm::sys::fs::remove(metrics)) // Of a run that did not complete.
    return makeUserError(metrics + ": " + error.message());
  const std::vector<std::string> words = commandOf(run);
  const std::vector<StringRef> arguments(words.begin(), words.end());
  const std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  std::string message;
  bool failed = false;
  const llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      swept.path, arguments, std::nullopt, redirects, /*MemoryLimit=*/0, &message, &failed);
  if (failed)
    return makeUserError(program + ": " + message);
  running.push_back({process, std::move(run)});
  return llvm::Error::success();
}

/// Returns the last line of a run's messages, or its exit code.
std::string problemOf(const SweepRun &run, int code) {
  std::string problem = code < 0 ? "ended by a signal" : "exit code " + std::to_string(code);
  llvm::Expected<InputFile> log = readInputFile(run.folder + "/log", anyBytes, FileForm::Text);
  if (!log) {
    llvm::consumeError(log.takeError());
    return problem;
  }
  llvm::SmallVector<StringRef> lines;
  log->bytes().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : llvm::reverse(lines))
    if (line.consume_front("error: "))
      return line.str();
  return problem;
}

/// Returns a file that is written in the folder of the results.
OutputTarget targetOf(const std::string &file) { return {"--out: " + file, file, file}; }

/// Adds a run that has ended or was completed before.
void Sweep::take(SweepRun run) {
  if (run.problem.empty())
    if (llvm::Error error = readMetrics(run.folder + "/metrics.jsonl", run))
      run.problem = llvm::toString(std::move(error));
  if (!isQuiet) {
    const std::optional<double> loss = valueOf(run, "loss");
    llvm::errs() << llvm::formatv(
        "{0} of {1}  {2}  {3}\n", done.size() + 1, settings.size(), run.setting.describe(),
        !run.problem.empty() ? "failed: " + run.problem
        : loss               ? llvm::formatv("loss {0:f6} after {1} steps", *loss, run.steps).str()
                             : std::string("no steps"));
  }
  done.push_back(std::move(run));
}

/// Waits until one of the runs ends.
llvm::Error Sweep::finishOne() {
  for (;;)
    for (auto child = running.begin(); child != running.end(); ++child) {
      // A single run is waited for; several are polled.
      const bool isOnly = running.size() == 1;
      std::string message;
      const llvm::sys::ProcessInfo ended =
          llvm::sys::Wait(child->process, isOnly ? std::nullopt : std::optional<unsigned>(0),
                          &message, /*ProcStat=*/nullptr, /*Polling=*/!isOnly);
      if (ended.Pid == 0) {
        ::usleep(20000);
        continue;
      }
      SweepRun run = std::move(child->run);
      running.erase(child);
      if (ended.ReturnCode != 0)
        run.problem = problemOf(run, ended.ReturnCode);
      if (run.problem.empty() && !isInterrupted) {
        const OutputTarget target = targetOf(run.folder + "/completed");
        if (llvm::Error error =
                writeOutput(target, [&](llvm::raw_ostream &stream) { stream << recordOf(run); }))
          return error;
      }
      take(std::move(run));
      return llvm::Error::success();
    }
}

int Sweep::report() {
  llvm::Expected<std::string> metric = rank(done, options.metric, swept);
  if (!metric)
    return mtc::tool::report(metric.takeError());
  std::vector<OutputFile> files;
  auto add = [&](const char *name, llvm::function_ref<void(llvm::raw_ostream &)> print) {
    return addOutput(files, targetOf(options.folder + "/" + name), print);
  };
  llvm::Error error = add("table.csv", [&](auto &stream) { printCsv(done, *metric, stream); });
  if (!error)
    error = add("index.html", [&](auto &stream) { writeSweepPage(done, swept, *metric, stream); });
  if (!error)
    error = commit(files);
  if (error)
    return mtc::tool::report(std::move(error));
  if (json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(done, *metric));
  else
    printTable(done, *metric, llvm::outs());
  if (!isQuiet)
    llvm::errs() << llvm::formatv(
        "{0} runs{1}; see {2}/index.html\n", done.size(),
        skipped ? llvm::formatv(", {0} of which were complete", skipped).str() : "",
        options.folder);
  const bool failed = llvm::any_of(done, [](const SweepRun &run) { return !run.problem.empty(); });
  return failed || done.size() < settings.size();
}

int Sweep::run() {
  if (llvm::Error error = prepare())
    return mtc::tool::report(std::move(error));
  for (auto [number, setting] : llvm::enumerate(settings)) {
    SweepRun run;
    run.setting = setting;
    run.number = number;
    run.folder = options.folder + "/" + setting.folderName();
    if (isCompleted(run)) {
      ++skipped;
      take(std::move(run));
      continue;
    }
    if (running.size() >= static_cast<size_t>(options.jobs))
      if (llvm::Error error = finishOne())
        return mtc::tool::report(std::move(error));
    if (isInterrupted)
      break;
    if (llvm::Error error = start(std::move(run)))
      return mtc::tool::report(std::move(error));
  }
  while (!running.empty())
    if (llvm::Error error = finishOne())
      return mtc::tool::report(std::move(error));
  return report();
}

} // namespace

int mtc::tool::sweep(const Options &options) {
  llvm::Expected<std::vector<Setting>> settings = listSettings(options.sweep);
  if (!settings)
    return report(settings.takeError());
  // The runs of the same terminal receive the signal, too, and end after their step.
  for (int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int) { isInterrupted = 1; });
  return Sweep(options, std::move(*settings)).run();
}
