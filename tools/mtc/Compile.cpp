//===- Compile.cpp - `mtc compile` ------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Compilation.h"
#include "driver/LibraryFiles.h"
#include "driver/PlanSearch.h"
#include "driver/PlanText.h"
#include "driver/ProgressLine.h"
#include "driver/StageText.h"
#include "driver/Weights.h"

#include "codegen/Codegen.h"
#include "codegen/Link.h"
#include "codegen/target/KernelCache.h"
#include "frontend/dialect/ElementTypes.h"
#include "frontend/reader/Export.h"
#include "ir/Mtc.h"
#include "runtime/abi/program.h"
#include "support/compiler/Errors.h"
#include "support/compiler/OutputFile.h"
#include "support/compiler/WrittenByMtc.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <filesystem>
#include <iterator>
#include <optional>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Reports that the program exceeds the memory budget, and the flags that would lower its peak.
void refuse(const MemoryPlan &plan, const Options &options, Compilation &compilation) {
  std::string text =
      llvm::formatv("the program needs {0}, but --memory is {1}; the peak is at node '{2}'",
                    formatBytes(plan.counted), formatBytes(*options.memory), peakNodes(plan));
  const MemoryPlan::Categories &categories = plan.categories;
  int64_t fixed = categories.parameters + categories.gradients + categories.optimizer;
  if (fixed > *options.memory)
    text += llvm::formatv("; parameters, gradients and optimizer state alone need {0}; use "
                          "--freeze PATTERN to train fewer parameters",
                          formatBytes(fixed));
  else if (plan.floor > *options.memory)
    text += llvm::formatv("; the lower bound with these flags is {0}: parameters, optimizer state, "
                          "and the operands and results of one operation",
                          formatBytes(plan.floor));
  if (std::string remedies = describe(PlanQuestions(options, compilation).findRemedies(plan));
      !remedies.empty())
    text += "; " + remedies;
  emitError(UnknownLoc::get(&compilation.getContext()), text);
}

MtcExportForm codeOf(mtc::onnx::ExportForm form) {
  switch (form) {
  case mtc::onnx::ExportForm::Every:
    return MTC_EVERY_FORM;
  case mtc::onnx::ExportForm::Inference:
    return MTC_INFERENCE_FORM;
  case mtc::onnx::ExportForm::Original:
    return MTC_ORIGINAL_FORM;
  }
  llvm_unreachable("all forms are handled");
}

LogicalResult addExport(Compilation &compilation, ProgramFiles &files) {
  if (!compilation.getModel()) {
    warn("--export: not available in the program: there is no model to export");
    return success();
  }
  llvm::StringSet<> known, names;
  for (const auto &initializer : compilation.getParameters().initializers)
    known.insert(initializer.name);
  /// Additional initializers that a variable is written to.
  llvm::StringMap<std::pair<std::string, TensorImageAttr>> images;
  for (auto variable : compilation.getModule().getOps<VariableOp>()) {
    if (!llvm::is_contained({Role::Parameter, Role::Frozen, Role::State}, variable.getRole()))
      continue;
    // Integers are no parameters, but may be state.
    if (known.contains(variable.getSymName()) ||
        (variable.getRole() == Role::State &&
         compilation.getModel()->findInitializer(variable.getSymName())))
      names.insert(variable.getSymName());
    if (ArrayAttr list = variable.getFileImagesAttr())
      for (auto image : list.getAsRange<TensorImageAttr>()) {
        names.insert(image.getName());
        images[image.getName()] = {variable.getSymName().str(), image};
      }
  }
  const Parameters &parameters = compilation.getParameters();
  auto segments = mtc::onnx::exportSegments(*compilation.getModel(), parameters.added, names,
                                            parameters.replaced);
  if (!segments) {
    // The program can still train.
    warn("--export: not available in the program: " + llvm::toString(segments.takeError()));
    return success();
  }
  for (mtc::onnx::FileSegment &segment : *segments) {
    Type element =
        mtc::onnx::elementTypeFromOnnx(compilation.getModule().getContext(), segment.dataType);
    auto [variable, image] = images.lookup(segment.initializer);
    files.exportSegments.push_back({std::move(segment.bytes),
                                    image ? variable : std::move(segment.initializer), element,
                                    image, codeOf(segment.form)});
  }
  return success();
}

/// Returns the model's files, which the program must not overwrite: null-terminated paths relative
/// to the program's folder.
std::string listModelFiles(const mtc::onnx::Model &model, StringRef program) {
  const std::filesystem::path folder = std::filesystem::path(program.str()).parent_path();
  std::vector<std::string> paths = model.dataPaths();
  paths.insert(paths.begin(), model.path());
  std::string list;
  for (const std::string &path : paths)
    if (llvm::SmallString<256> real; !llvm::sys::fs::real_path(path, real))
      list += std::filesystem::path(real.str().str()).lexically_relative(folder).string() + '\0';
  return list;
}

std::string describeBatch(ProgramOp program) {
  bool takesRows = llvm::any_of(program.getInputs().getOps<InputOp>(),
                                [](InputOp input) { return input.getRows(); });
  std::string batch =
      takesRows ? llvm::formatv("batch {0}", program.getBatch()).str() : "inputs passed whole";
  return program.getRankCount() > 1
             ? llvm::formatv("{0} on each of {1} ranks", batch, program.getRankCount()).str()
             : batch;
}

std::unique_ptr<KernelCache> openCache(const Options &options) {
  std::string folder = options.noCache ? "" : KernelCache::defaultFolder();
  return folder.empty() ? nullptr : std::make_unique<KernelCache>(std::move(folder));
}

void close(KernelCache &cache) {
  cache.prune();
  if (std::string problem = cache.getProblem(); !problem.empty())
    warn("compiled kernels are not cached: " + problem +
         "; use --no-cache to silence this warning");
}

/// Returns whether the result is linked.
bool isLinked(Result result) { return result == Result::Program || result == Result::Library; }

/// Returns the value of -o, or its default.
std::string outputName(const Options &options, Compilation &compilation) {
  return options.output.empty() ? compilation.getProgram().getModelName().str() : options.output;
}

/// Returns the destination of the program, library or stage's text; nullopt for standard output.
llvm::Expected<std::optional<OutputTarget>> planResult(const Options &options,
                                                       Compilation &compilation) {
  if (!isLinked(options.result) && (options.output.empty() || options.output == "-"))
    return std::nullopt;
  std::string path = outputName(options, compilation);
  if (options.result == Result::Library)
    path = libraryFiles(path).library;
  std::string what = options.output.empty()
                         ? path + " (the " +
                               (options.result == Result::Library ? "library" : "program") +
                               "; use -o to name it)"
                         : "-o " + options.output;
  auto target = compilation.getOutputs().add(what, path, /*isStream=*/!isLinked(options.result));
  if (!target)
    return target.takeError();
  return std::move(*target);
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
    FailureOr<CodeSources> sources = processor.collectSources(compilation.getModule());
    if (failed(sources) || failed(processor.printResources(*sources, stream)))
      return failure();
    for (StringRef line : llvm::split(StringRef(table).rtrim(), '\n'))
      if (!line.empty())
        os << "// " << line << '\n';
    return success();
  });
}

std::string describeTraining(ProgramOp program, const MemoryPlan &plan) {
  return llvm::formatv("trains '{0}' with {1} and {2}, {3}, in {4}", program.getModelName(),
                       program.getLoss().value_or("no loss"),
                       program.getOptimizer().value_or("no optimizer"), describeBatch(program),
                       formatBytes(plan.peak));
}

/// The files of a compilation besides the program or library.
struct Companions {
  std::optional<OutputTarget> weights, header;
  std::string headerText;
};

/// Links the program or library to a temporary file.
llvm::Error link(const Options &options, Compilation &compilation, const llvm::MemoryBuffer &code,
                 llvm::StringRef output) {
  LinkInputs inputs = compilation.getTarget().getLinkInputs();
  inputs.hasRanks = compilation.getProgram().getRankCount() > 1;
  const LinkRequest request{code, output, std::move(inputs)};
  return options.result == Result::Library
             ? linkLibrary(request, libraryFiles(outputName(options, compilation)).names)
             : linkProgram(request);
}

/// Links the program or library, writes its weights, and adds both to `files`. The linker is a
/// process of one thread, so the weights are written while it runs.
llvm::Error linkAndWriteWeights(const Options &options, Compilation &compilation,
                                const llvm::MemoryBuffer &code, const OutputTarget &target,
                                const Weights &weights,
                                const std::optional<OutputTarget> &weightsTarget,
                                std::vector<OutputFile> &files) {
  llvm::Expected<OutputFile> linked = OutputFile::create(target);
  if (!linked)
    return linked.takeError();
  std::optional<llvm::Error> linkError, weightsError;
  std::vector<OutputFile> weightsFiles;
  parallelFor(&compilation.getContext(), 0, 2, [&](size_t task) {
    if (task == 0)
      linkError = link(options, compilation, code, linked->getTemporaryPath());
    else if (weightsTarget)
      weightsError =
          addOutput(weightsFiles, *weightsTarget, [&](raw_ostream &os) { weights.write(os); });
  });
  llvm::Error error = weightsError ? std::move(*weightsError) : llvm::Error::success();
  if (*linkError) {
    llvm::consumeError(std::move(error)); // A full disk, for example, is reported once.
    return makeSystemFault(target.what + ": " + llvm::toString(std::move(*linkError)));
  }
  files.push_back(std::move(*linked));
  llvm::move(weightsFiles, std::back_inserter(files));
  return error;
}

/// Writes the program or library, its companions and remarks atomically: all of them or none.
llvm::Error writeLinked(const Options &options, Compilation &compilation,
                        const llvm::MemoryBuffer &code, const OutputTarget &target,
                        const Weights &weights, const Companions &companions) {
  ProgressLine line("linking and writing the " +
                    std::string(options.result == Result::Library ? "library" : "program"));
  std::vector<OutputFile> files;
  if (llvm::Error error = linkAndWriteWeights(options, compilation, code, target, weights,
                                              companions.weights, files))
    return error;
  if (companions.header)
    if (llvm::Error error = addOutput(files, *companions.header,
                                      [&](raw_ostream &os) { os << companions.headerText; }))
      return error;
  if (llvm::Error error = compilation.addRemarks(files))
    return error;
  return commit(files);
}

} // namespace

int mtc::tool::compile(Options &options, Compilation &compilation, const char *executable) {
  if (failed(compilation.import()))
    return 1;
  auto planned = planResult(options, compilation);
  if (!planned)
    return report(planned.takeError());
  const std::optional<OutputTarget> &result = *planned;
  if (failed(compilation.lower(options.stage)))
    return 1;
  if (options.result == Result::Text)
    return options.stage == Stage::Kernels ? emitKernels(compilation, result)
                                           : emitIr(compilation, result);

  MemoryPlan plan = MemoryPlan::ofAllocated(compilation.getModule());
  if (options.memory && plan.counted > *options.memory) {
    refuse(plan, options, compilation);
    return std::max(1, compilation.writeRemarks());
  }
  ProgramFiles files;
  files.compilerVersion = MTC_VERSION;
  llvm::json::Object planJson = toJson(plan, options.memory);
  addRanks(compilation.getModule(), planJson);
  files.planJson = llvm::formatv("{0}", llvm::json::Value(std::move(planJson)));

  Target &target = compilation.getTarget();
  if (options.result == Result::Llvm)
    return emitStage(compilation, result, ";", [&](raw_ostream &os) {
      FailureOr<CodeSources> sources = target.collectSources(compilation.getModule());
      return failed(sources) ? failure() : target.print(*sources, KernelText::LLVM, os);
    });

  FailureOr<Weights> weights = Weights::collect(compilation.getModule(), compilation.getModel());
  if (failed(weights))
    return 1;
  Companions companions;
  auto addCompanion = [&](const Twine &role, const std::string &path,
                          std::optional<OutputTarget> &target) -> llvm::Error {
    auto added = compilation.getOutputs().add(path + role, path, /*isStream=*/false);
    if (!added)
      return added.takeError();
    target = std::move(*added);
    return llvm::Error::success();
  };
  const bool isLibrary = options.result == Result::Library;
  if (!weights->empty()) {
    std::string base = result ? result->name : compilation.getProgram().getModelName().str();
    if (isLibrary)
      base = libraryFiles(outputName(options, compilation)).weightsBase;
    const std::string path = Weights::fileOf(base);
    files.weightsFile = llvm::sys::path::filename(path).str();
    files.weightsDigest = weights->getDigest();
    if (isLinked(options.result))
      if (llvm::Error error = addCompanion(isLibrary ? " (the library's weights, named after it)"
                                                     : " (the program's weights, named after it)",
                                           path, companions.weights))
        return report(std::move(error));
  }
  if (isLibrary) {
    const LibraryFiles library = libraryFiles(outputName(options, compilation));
    companions.headerText =
        libraryHeader(library.names, {"Library " + library.names.soname + ": " +
                                          describeTraining(compilation.getProgram(), plan) + ".",
                                      target.getLinkInputs().libraries});
    if (llvm::Error error = addCompanion(" (the library's header, named after it)", library.header,
                                         companions.header))
      return report(std::move(error));
  }
  if (failed(addExport(compilation, files)))
    return 1;
  if (isLinked(options.result) && compilation.getModel())
    files.modelFiles = listModelFiles(*compilation.getModel(), result->path);
  std::unique_ptr<KernelCache> cache = openCache(options);
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> code = [&] {
    ProgressLine line("compiling kernels");
    return generateCode(compilation.getModule(), files, target, cache.get(),
                        [&](size_t done, size_t all) { line.update(done, all); });
  }();
  if (failed(code))
    return 1;
  if (cache)
    close(*cache);
  if (options.result == Result::Object)
    return emitStage(compilation, result, "", [&](raw_ostream &os) {
      os << (*code)->getBuffer();
      return success();
    });
  if (llvm::Error error = writeLinked(options, compilation, **code, *result, *weights, companions))
    return report(std::move(error));
  if (options.json) {
    llvm::json::Object json = toJson(plan, options.memory);
    addRanks(compilation.getModule(), json);
    json["training"] = compilation.getParameters().training.toJson();
    json[isLibrary ? "library" : "program"] = result->name;
    if (companions.header)
      json["header"] = companions.header->name;
    if (companions.weights)
      json["weights"] = companions.weights->name;
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(json)));
  } else {
    show(result->name + ": " + describeTraining(compilation.getProgram(), plan) + "\n");
  }
  return 0;
}
