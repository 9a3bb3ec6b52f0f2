//===- Options.h - Options of a run of mtc ----------------------------------------------------===//

#ifndef MTC_DRIVER_OPTIONS_H
#define MTC_DRIVER_OPTIONS_H

#include "ir/Mtc.h"
#include "passes/planning/PlanSettings.h"

#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace mtc::tool {

/// Output of the compiler: the text of a stage or, for an allocated module, the kernels' LLVM IR,
/// an object file or a program.
enum class Result { Text, Llvm, Object, Library, Program };

/// A given flag in the spelling of messages, and the stage at which it takes effect.
struct GivenFlag {
  std::string text;
  Stage decidedBy;
};

enum class Command { Compile, Plan, Gradient, Inspect, Sweep };

/// Options of `mtc sweep`.
struct SweepOptions {
  std::vector<std::string> settings;  // `--set`.
  std::string list, folder, metric;   // `--list`, `--out`, `--metric`.
  int64_t jobs = 1;                   // `--jobs`.
  std::vector<std::string> arguments; // Flags of the program, for all runs.
};

/// Validated flags of the commands with a model or a program. Strings are empty and optionals have
/// no value if the flag was not given.
struct Options {
  PlanSettings plan;
  std::string model;  // File name of a model, of a stage's text, or of a program.
  std::string output; // `-o`.
  std::string recipe;
  std::string weights;                    // `--weights`.
  std::vector<std::string> ignoreWeights; // `--ignore-weights`.
  std::string target = "cpu";
  bool emulate = false;
  bool noCudnn = false, noOnednn = false;
  bool isStatic = false; // `--static`.
  bool verbose = false, quiet = false;
  bool explainsDefaults = true; // Whether sizes that mtc chooses are noted.
  std::string cpu;              // `--cpu`; empty: CPU of this machine.
  std::string costModel;        // Processor class or GPU of `--cost-model`; empty: the default.
  std::string tune;             // Value of `--tune`; empty: the target's default.
  unsigned threads = 0;
  bool noCache = false;

  // INPUT=VALUE; split later, depending on the names of the model's inputs.
  std::vector<std::string> binds;
  std::vector<std::string> batchInputs; // `--batch-input`.
  std::vector<std::string> train, freeze, lora;
  SharedInitializerPolicy sharedInitializers = SharedInitializerPolicy::Auto;
  std::vector<std::string> tie, untie;
  std::optional<BatchNormMode> batchNorm; // No value: as exported.
  std::optional<double> dropout;          // `--dropout`.
  int64_t unroll = 64;                    // `--unroll`.
  std::optional<int64_t> batchTokens;     // `--batch-tokens`.

  std::vector<std::string> scheduleFiles; // Files read for `--schedule-table`.
  // Flags whose values were read from files, with the files: `--class-weights`, `--pos-weight`.
  std::vector<std::pair<std::string, std::string>> numberFiles;

  bool takesAvailableMemory = false; // `--memory auto`.
  std::vector<std::string> allow;    // `--allow`: changes that may be made to meet the budget.
  bool fitsBatch = false;            // `--fit-batch`.
  std::vector<std::string> inputGradients; // `--input-gradients`.
  bool parametersAreInputs = false;        // `--parameters inputs`.
  bool json = false;
  SweepOptions sweep;
  std::string html;                       // `--html`.
  bool techniques = false, curve = false; // `--techniques`, `--curve`.
  bool force = false;                     // Overwrite files that mtc did not write.
  Stage stage = Stage::Allocated;         // Last stage to run.
  Result result = Result::Program;
  std::string remarks;    // `--remarks`.
  std::string irFolder;   // `--print-ir-after-all`.
  std::string reproducer; // `--crash-reproducer`.

  std::vector<GivenFlag> given; // Flags that a stage's text may already have decided.

  bool isForCpu() const { return target == "cpu"; }
  /// Returns whether there will be a memory budget.
  bool hasBudget() const { return plan.fit.memory || takesAvailableMemory; }
  /// Reports contradictions between options.
  void check(RefuseOption refuse) const;
  /// Returns where values are offloaded to on the target.
  MemorySpace getOffloadSpace() const {
    return isForCpu() ? MemorySpace::Disk : MemorySpace::PinnedHost;
  }
};

/// Sets the options from the command line and the recipe. Reports all problems and exits with code
/// 1 if there are any.
void collectOptions(Options &options, Command command);

} // namespace mtc::tool

#endif // MTC_DRIVER_OPTIONS_H
