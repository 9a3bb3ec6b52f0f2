//===- Compile.cpp - `mtc compile` ------------------------------------------------------------===//

#include "Commands.h"
#include "Compilation.h"
#include "MemoryPlan.h"
#include "Weights.h"

#include "codegen/Codegen.h"
#include "codegen/KernelCache.h"
#include "codegen/Link.h"
#include "frontend/reader/Export.h"
#include "ir/Mtc.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// What does not fit is refused with what would: a smaller batch, where one is symbolic.
void refuse(const MemoryPlan &plan, const Options &options, Compilation &compilation) {
  std::string text =
      llvm::formatv("the program needs {0}, --memory allows {1}; most is alive at node '{2}'",
                    formatBytes(plan.peak), formatBytes(*options.memory), plan.peakAt);
  int64_t fixed = plan.parameters + plan.gradients + plan.optimizer;
  if (fixed > *options.memory)
    text += llvm::formatv(
        "; parameters, gradients and optimizer state alone take {0}: --freeze PATTERN "
        "trains fewer parameters",
        formatBytes(fixed));
  else
    text += "; smaller sizes of symbolic dimensions (--dim) need less for activations";
  emitError(UnknownLoc::get(&compilation.getContext()), text);
}

LogicalResult addExport(Compilation &compilation) {
  llvm::StringSet<> names;
  for (auto variable : compilation.getModule().getOps<VariableOp>())
    if ((variable.getRole() == Role::Parameter || variable.getRole() == Role::State) &&
        compilation.getModel().hasInitializer(variable.getSymName()))
      names.insert(variable.getSymName());
  auto segments =
      mtc::onnx::exportSegments(compilation.getModel(), compilation.getContext(), names);
  if (!segments) {
    // The program trains all the same.
    warn("the program will not --export: " + llvm::toString(segments.takeError()));
    return success();
  }
  for (mtc::onnx::FileSegment &segment : *segments)
    compilation.getInfo().exportSegments.push_back(
        {std::move(segment.bytes), std::move(segment.initializer)});
  return success();
}

std::unique_ptr<KernelCache> openCache(const Options &options) {
  std::string folder = options.noCache ? "" : KernelCache::defaultFolder();
  return folder.empty() ? nullptr : std::make_unique<KernelCache>(std::move(folder));
}

void close(KernelCache &cache) {
  cache.prune();
  if (std::string problem = cache.getProblem(); !problem.empty())
    warn("compiled kernels are not kept: " + problem + "; --no-cache says that it is meant");
}

/// Prints the IR of the stage that `--emit` names, to `-o` or the standard output.
int emitStage(const Options &options, Compilation &compilation,
              llvm::function_ref<LogicalResult(raw_ostream &)> print) {
  std::error_code error;
  llvm::ToolOutputFile file(options.output.empty() ? "-" : options.output, error,
                            llvm::sys::fs::OF_None);
  if (error)
    fail("-o " + options.output + ": " + error.message());
  if (failed(print(file.os())))
    return 1;
  file.keep();
  return 0;
}

void printIr(Compilation &compilation, raw_ostream &os) {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64);
  compilation.getModule()->print(os, flags);
}

int emitIr(const Options &options, Compilation &compilation) {
  return emitStage(options, compilation, [&](raw_ostream &os) {
    printIr(compilation, os);
    return success();
  });
}

/// The kernels, then as comments what they take of the target's processor.
int emitKernels(const Options &options, Compilation &compilation) {
  return emitStage(options, compilation, [&](raw_ostream &os) {
    printIr(compilation, os);
    std::string table;
    llvm::raw_string_ostream stream(table);
    if (failed(compilation.lower(Stage::Placed)) ||
        failed(compilation.getTarget().printResources(CodeSources::of(compilation.getModule()),
                                                      stream)))
      return failure();
    for (StringRef line : llvm::split(StringRef(table).rtrim(), '\n'))
      if (!line.empty())
        os << "// " << line << '\n';
    return success();
  });
}

} // namespace

int mtc::tool::compile(Options &options, const char *executable) {
  Compilation compilation(options);
  if (failed(compilation.import()))
    return 1;
  if (options.stage == Stage::Onnx)
    return emitIr(options, compilation);
  if (failed(compilation.lower(options.stage)))
    return 1;
  if (options.stage == Stage::Kernels)
    return emitKernels(options, compilation);
  if (options.stage <= Stage::Placed)
    return emitIr(options, compilation);

  MemoryPlan plan = MemoryPlan::of(compilation.getModule());
  if (options.memory && plan.peak > *options.memory) {
    refuse(plan, options, compilation);
    return 1;
  }
  ProgramInfo &info = compilation.getInfo();
  info.planJson = llvm::formatv("{0}", llvm::json::Value(plan.toJson(options.memory)));

  Target &target = compilation.getTarget();
  if (options.stage == Stage::Llvm)
    return emitStage(options, compilation, [&](raw_ostream &os) {
      return target.print(CodeSources::of(compilation.getModule()), KernelText::LLVM, os);
    });

  std::string program = options.output.empty() ? compilation.getModel().name() : options.output;
  std::string weights = program + ".safetensors";
  bool hasWeights = needsWeights(compilation.getModule());
  if (hasWeights)
    info.weightsFile = llvm::sys::path::filename(weights).str();
  if (failed(addExport(compilation)))
    return 1;
  std::unique_ptr<KernelCache> cache = openCache(options);
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> code =
      generateCode(compilation.getModule(), info, target, cache.get());
  if (failed(code))
    return 1;
  if (cache)
    close(*cache);
  if (options.stage == Stage::Object)
    return emitStage(options, compilation, [&](raw_ostream &os) {
      os << (*code)->getBuffer();
      return success();
    });
  if (hasWeights && failed(writeWeights(compilation.getModule(), compilation.getModel(), weights)))
    return 1;
  if (llvm::Error error = linkProgram(**code, program, target.getLinkInputs())) {
    emitError(UnknownLoc::get(&compilation.getContext()), llvm::toString(std::move(error)));
    return 2;
  }
  if (options.json) {
    llvm::json::Object result = plan.toJson(options.memory);
    result["program"] = program;
    if (hasWeights)
      result["weights"] = weights;
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(result)));
  } else {
    llvm::outs() << program << ": trains '" << info.modelName << "' with " << info.loss << " and "
                 << info.optimizer << ", batch " << info.batch << ", in " << formatBytes(plan.peak)
                 << "\n";
  }
  return 0;
}
