//===- Compile.cpp - `mtc compile` ------------------------------------------------------------===//

#include "Commands.h"
#include "driver/PlanChoice.h"
#include "driver/PlanText.h"
#include "driver/ProgramWriter.h"
#include "driver/StageText.h"
#include "driver/weights/CheckWeights.h"

#include "codegen/program/StageTables.h"
#include "ir/Mtc.h"
#include "passes/memory/MemoryTimeline.h"
#include "passes/pipeline/Stages.h"
#include "support/compiler/Errors.h"
#include "support/compiler/OutputFile.h"
#include "support/compiler/WrittenByMtc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <optional>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Reports that the program exceeds the memory budget, and the flags that would lower its peak.
void refuse(const MemoryPlan &plan, const Options &options, Compilation &compilation) {
  std::string text = llvm::formatv(
      "the program needs {0}, but --memory is {1}; the peak is at node '{2}'",
      formatBytes(plan.counted), formatBytes(*options.plan.fit.memory), peakNodes(plan));
  const MemoryPlan::Categories &categories = plan.categories;
  int64_t fixed = categories.parameters + categories.gradients + categories.optimizer;
  if (fixed > *options.plan.fit.memory)
    text += llvm::formatv("; parameters, gradients and optimizer state alone need {0}; use "
                          "--freeze PATTERN to train fewer parameters",
                          formatBytes(fixed));
  else if (plan.floor > *options.plan.fit.memory)
    text += llvm::formatv("; the lower bound with these flags is {0}: parameters, optimizer state, "
                          "and the operands and results of one operation",
                          formatBytes(plan.floor));
  if (std::string suggestions =
          describe(CompilationQueries(options, compilation).findSuggestions(plan));
      !suggestions.empty())
    text += "; " + suggestions;
  emitError(UnknownLoc::get(&compilation.getContext()), text);
}

/// Prints the stage selected by `--emit` to its target. `comment` is the comment prefix of the
/// stage's language; it is empty for binary stages, which contain their own mark.
int emitStage(Compilation &compilation, const std::optional<OutputTarget> &target,
              StringRef comment, llvm::function_ref<LogicalResult(raw_ostream &)> print) {
  std::string text = comment.empty() ? "" : textMark(comment);
  llvm::raw_string_ostream stream(text);
  if (failed(print(stream)))
    return 1;
  std::vector<OutputFile> files;
  if (!target)
    llvm::outs() << text;
  else if (llvm::Error error = addOutput(files, *target, [&](raw_ostream &os) { os << text; }))
    return report(std::move(error));
  if (llvm::Error error = compilation.addRemarks(files))
    return report(std::move(error));
  return report(commit(files));
}

/// Text on a terminal is abridged, while files must be complete for `mtc compile` to continue from
/// them.
void printText(Compilation &compilation, const std::optional<OutputTarget> &target,
               raw_ostream &os) {
  bool isAbridged = !target && llvm::outs().is_displayed();
  printStageText(compilation.getModule(), os, isAbridged);
  if (isAbridged)
    note("large constants and node names are omitted; use -o FILE to write text that mtc compile "
         "accepts");
}

int emitIr(Compilation &compilation, const std::optional<OutputTarget> &target) {
  return emitStage(compilation, target, "//", [&](raw_ostream &os) {
    printText(compilation, target, os);
    return success();
  });
}

/// Prints the kernels, followed by their resource usage on the target's processor as comments.
int emitKernels(Compilation &compilation, const std::optional<OutputTarget> &target) {
  return emitStage(compilation, target, "//", [&](raw_ostream &os) {
    printText(compilation, target, os);
    std::string table;
    llvm::raw_string_ostream stream(table);
    if (failed(compilation.lower(Stage::Allocated)))
      return failure();
    Target &processor = compilation.getTarget();
    for (mlir::ModuleOp stage : stagesOf(compilation.getModule())) {
      FailureOr<CodeSources> sources = processor.collectSources(stage);
      if (failed(sources) || failed(processor.printResources(*sources, stream)))
        return failure();
    }
    for (StringRef line : llvm::split(StringRef(table).rtrim(), '\n'))
      if (!line.empty())
        os << "// " << line << '\n';
    return success();
  });
}

/// Generates the code of the program, and writes it as an object or links it.
int writeProgram(const Options &options, Compilation &compilation, const MemoryPlan &plan,
                 const std::optional<OutputTarget> &destination) {
  ProgramWriter writer(options, compilation, plan, destination);
  if (int code = writer.prepare())
    return code;
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> code = writer.generateCode();
  if (failed(code))
    return 1;
  if (options.result == Result::Object)
    return emitStage(compilation, destination, "", [&](raw_ostream &os) {
      os << (*code)->getBuffer();
      return success();
    });
  if (llvm::Error error = writer.write(**code))
    return report(std::move(error));
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(writer.toJson()));
  else
    show(destination->name + ": " + writer.describe() + "\n");
  return 0;
}

} // namespace

int mtc::tool::compile(const Options &options, Compilation &compilation) {
  if (failed(compilation.import()))
    return 1;
  auto chosen = chooseDestination(options, compilation);
  if (!chosen)
    return report(chosen.takeError());
  const std::optional<OutputTarget> &destination = *chosen;
  if (!options.weights.empty() && options.stage >= Stage::Training) {
    if (failed(compilation.lower(Stage::Training)))
      return 1;
    // Before planning and code generation, which take long for large models.
    if (stagesOf(compilation.getModule()).size() == 1 &&
        failed(checkWeights(compilation.getModule(), options, compilation.getModel(),
                            compilation.getParameters())))
      return 1;
  }
  if (failed(compilation.lower(options.stage)))
    return 1;
  if (options.result == Result::Text)
    return options.stage == Stage::Kernels ? emitKernels(compilation, destination)
                                           : emitIr(compilation, destination);

  const llvm::SmallVector<mlir::ModuleOp> stages = stagesOf(compilation.getModule());
  mlir::ModuleOp largest = largestStageOf(compilation.getModule());
  if (stages.size() > 1) {
    alignStages(stages);
    // No stage alone has the variables of all before.
    if (!options.weights.empty() &&
        failed(checkWeights(largest, options, compilation.getModel(), compilation.getParameters())))
      return 1;
  }
  MemoryPlan plan = MemoryPlan::ofAllocated(largest);
  if (options.plan.fit.memory && plan.counted > *options.plan.fit.memory) {
    refuse(plan, options, compilation);
    return std::max(1, compilation.writeRemarks());
  }
  plan.setCategories(MemoryTimeline(largest)); // The refusal needs those of variables.
  if (options.result == Result::Llvm)
    return emitStage(compilation, destination, ";", [&](raw_ostream &os) {
      Target &target = compilation.getTarget();
      FailureOr<CodeSources> sources = target.collectSources(compilation.getModule());
      return failed(sources) ? failure() : target.print(*sources, KernelText::LLVM, os);
    });
  return writeProgram(options, compilation, plan, destination);
}
