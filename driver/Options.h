//===- Options.h - What the user asks of mtc --------------------------------------------------===//

#ifndef MTC_DRIVER_OPTIONS_H
#define MTC_DRIVER_OPTIONS_H

#include "passes/pipelines/Pipelines.h"

#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mtc::tool {

/// What is made of the module at its stage: its text, or of an allocated one the kernels' text, an
/// object file or a program.
enum class Result { Text, Llvm, Object, Program };

/// A flag that was given, as messages name it, and the stage by which it is decided.
struct GivenFlag {
  std::string text;
  Stage decidedBy;
};

enum class Command { Compile, Plan, Inspect };

/// The flags of `mtc compile` and `mtc plan`, checked. Strings are empty and numbers absent where
/// the user left them open.
struct Options {
  std::string model;  // The file of a model, or a stage's text.
  std::string output; // -o
  std::string recipe;
  std::string target = "cpu";
  bool emulate = false;
  Precision precision = Precision::F32;
  bool noCudnn = false;
  bool verbose = false, quiet = false;
  bool explainsDefaults =
      true;              // Whether sizes that mtc chooses are noted; `mtc inspect` lists them.
  std::string cpu;       // `--cpu`; empty: this machine's.
  std::string costModel; // Processor class of `--cost-model`; empty: this machine, measured.
  unsigned threads = 0;
  bool noCache = false;

  llvm::StringMap<int64_t> dims;
  std::vector<std::string> binds; // INPUT=VALUE; where it is split depends on the model's inputs.
  std::vector<std::string> batchInputs; // `--batch-input`.
  std::vector<std::string> train, freeze, lora;
  SharedInitializerPolicy sharedInitializers = SharedInitializerPolicy::Auto;
  std::vector<std::string> tie, untie;
  std::optional<BatchNormMode> batchNorm; // Nothing: not given, as exported.

  TrainingOptions training;
  std::vector<std::string> scheduleFiles; // That were read for `--schedule-table`.

  std::optional<int64_t> memory;     // Budget in bytes.
  bool takesAvailableMemory = false; // `--memory auto`.
  std::vector<std::string> allow;    // `--allow`: names of what may be changed to keep it.
  bool json = false;
  std::string html;                       // `--html`.
  bool techniques = false, curve = false; // `--techniques`, `--curve`.
  bool force = false;                     // Outputs may replace files that mtc did not write.
  Stage stage = Stage::Allocated;         // The last that is reached.
  Result result = Result::Program;
  TileOptions tile;
  RecomputeOptions recompute;
  bool leastIfMissed = true; // What needs the least is looked for where nothing fits.
  bool isEstimate = false; // What needs less is looked for with little effort, whatever the budget.
  AllocateOptions allocate;
  OffloadOptions offload;
  PassSelection passes;
  std::string remarks;    // `--remarks`.
  std::string irFolder;   // `--print-ir-after-all`.
  std::string reproducer; // `--crash-reproducer`.

  std::vector<GivenFlag> given; // Those that a text may have decided.
};

/// Sets the options to the flags that the command line and the recipe give. Reports every problem
/// and ends the process with exit code 1 if there is one.
void collectOptions(Options &options, Command command);

} // namespace mtc::tool

#endif // MTC_DRIVER_OPTIONS_H
