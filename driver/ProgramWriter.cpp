//===- ProgramWriter.cpp - Code, weights and files of a compiled program ----------------------===//

#include "driver/ProgramWriter.h"

#include "driver/LibraryFiles.h"
#include "driver/PipelineText.h"
#include "driver/PlanText.h"
#include "driver/ProgramExport.h"
#include "driver/ProgressLine.h"
#include "driver/ShapeText.h"

#include "codegen/Link.h"
#include "codegen/target/KernelCache.h"
#include "passes/pipeline/Stages.h"
#include "runtime/abi/images.h"
#include "support/compiler/Errors.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <iterator>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

static std::string describeBatch(ProgramOp program) {
  bool takesRows = llvm::any_of(program.getInputs().getOps<InputOp>(),
                                [](InputOp input) { return input.getRows(); });
  std::string batch =
      takesRows ? llvm::formatv("batch {0}", program.getBatch()).str() : "inputs passed whole";
  const int64_t all = program.getRankCount();
  const int64_t sharing = program.getSharingRanks() * program.getStageGroup().count;
  if (sharing > 1)
    return llvm::formatv("{0} on each of {1} groups of {2} ranks", batch, all / sharing, sharing);
  return all > 1 ? llvm::formatv("{0} on each of {1} ranks", batch, all).str() : batch;
}

static std::unique_ptr<KernelCache> openCache(const Options &options) {
  std::string folder = options.noCache ? "" : KernelCache::defaultFolder();
  return folder.empty() ? nullptr : std::make_unique<KernelCache>(std::move(folder));
}

static void close(KernelCache &cache) {
  cache.prune();
  if (std::string problem = cache.getProblem(); !problem.empty())
    warn("compiled kernels are not cached: " + problem +
         "; use --no-cache to silence this warning");
}

bool mtc::tool::isLinked(Result result) {
  return result == Result::Program || result == Result::Library;
}

/// Returns the value of -o, or its default.
static std::string outputName(const Options &options, Compilation &compilation) {
  return options.output.empty() ? compilation.getProgram().getModelName().str() : options.output;
}

llvm::Expected<std::optional<OutputTarget>> mtc::tool::chooseDestination(const Options &options,
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

ProgramWriter::ProgramWriter(const Options &options, Compilation &compilation,
                             const MemoryPlan &plan, std::optional<OutputTarget> destination)
    : options(options), compilation(compilation), largest(largestStageOf(compilation.getModule())),
      plan(plan), destination(std::move(destination)) {
  files.compilerVersion = MTC_VERSION;
  llvm::json::Object planJson = mtc::tool::toJson(plan, options.plan.fit.memory);
  addStages(compilation.getModule(), planJson);
  addRanks(largest, planJson);
  addShapes(largest, planJson);
  files.planJson = llvm::formatv("{0}", llvm::json::Value(std::move(planJson)));
}

llvm::Expected<OutputTarget> ProgramWriter::addCompanion(StringRef role, const std::string &path) {
  return compilation.getOutputs().add(path + role, path, /*isStream=*/false);
}

/// Notes that the program starts only with a file of the weights that the model lacks.
static void noteAbsent(const Weights &weights, MLIRContext &context) {
  ArrayRef<std::string> names = weights.getAbsent();
  if (names.empty())
    return;
  auto note = emitRemark(UnknownLoc::get(&context))
              << "the model file has no data for " << names.size() << " tensors ('"
              << llvm::join(names.take_front(3), "', '") << "'";
  if (names.size() > 3)
    note << ", ...";
  note << "): start the program with --weights FILE|DIR, or compile with --init normal=0.02";
}

llvm::Error ProgramWriter::chooseWeights() {
  if (weights.empty())
    return llvm::Error::success();
  const bool isLibrary = options.result == Result::Library;
  std::string base =
      destination ? destination->name : compilation.getProgram().getModelName().str();
  if (isLibrary)
    base = libraryFiles(outputName(options, compilation)).weightsBase;
  const std::string path = Weights::fileOf(base);
  files.weightsFile = llvm::sys::path::filename(path).str();
  files.weightsDigest = weights.getDigest();
  if (!isLinked(options.result))
    return llvm::Error::success();
  llvm::Expected<OutputTarget> target =
      addCompanion(isLibrary ? " (the library's weights, named after it)"
                             : " (the program's weights, named after it)",
                   path);
  if (!target)
    return target.takeError();
  weightsTarget = std::move(*target);
  return llvm::Error::success();
}

llvm::Error ProgramWriter::chooseHeader() {
  if (options.result != Result::Library)
    return llvm::Error::success();
  const LibraryFiles library = libraryFiles(outputName(options, compilation));
  header =
      libraryHeader(library.names, {"Library " + library.names.soname + ": " + describe() + ".",
                                    compilation.getTarget().getLinkInputs().libraries});
  llvm::Expected<OutputTarget> target =
      addCompanion(" (the library's header, named after it)", library.header);
  if (!target)
    return target.takeError();
  headerTarget = std::move(*target);
  return llvm::Error::success();
}

/// Records the path of `--weights`: relative to the program if it is in the program's folder, so
/// that both can be moved together, and absolute otherwise.
llvm::Error ProgramWriter::chooseInitialWeights() {
  if (options.weights.empty())
    return llvm::Error::success();
  llvm::SmallString<256> path;
  if (std::error_code error = llvm::sys::fs::real_path(options.weights, path))
    return makeUserError("--weights " + options.weights + ": " + error.message());
  files.initialWeights = path.str().str();
  if (!destination)
    return llvm::Error::success();
  StringRef inside = path;
  if (inside.consume_front(llvm::sys::path::parent_path(destination->path)) &&
      (inside.empty() || inside.consume_front("/")))
    files.initialWeights = inside.empty() ? "." : inside.str();
  return llvm::Error::success();
}

int ProgramWriter::prepare() {
  FailureOr<Weights> collected = Weights::collect(largest, compilation.getModel(),
                                                  /*onlyConstants=*/!options.weights.empty());
  if (failed(collected))
    return 1;
  weights = std::move(*collected);
  if (options.weights.empty())
    noteAbsent(weights, compilation.getContext());
  if (llvm::Error error = chooseInitialWeights())
    return report(std::move(error));
  if (llvm::Error error = chooseWeights())
    return report(std::move(error));
  if (llvm::Error error = chooseHeader())
    return report(std::move(error));
  addExport(compilation, files);
  if (isLinked(options.result) && compilation.getModel())
    files.modelFiles = listModelFiles(*compilation.getModel(), destination->path);
  return 0;
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>> ProgramWriter::generateCode() {
  const std::unique_ptr<KernelCache> cache = openCache(options);
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> code = [&] {
    ProgressLine line("compiling kernels");
    return mtc::generateCode(compilation.getModule(), files, compilation.getTarget(), cache.get(),
                             [&](size_t done, size_t all) { line.update(done, all); });
  }();
  if (succeeded(code) && cache)
    close(*cache);
  return code;
}

/// Returns whether a step has an input that a folder of images can feed.
static bool readsImages(StepOp step) {
  return llvm::any_of(step.getInputs().getAsRange<AtAttr>(), [](AtAttr input) {
    ArrayRef<int64_t> dims = input.getType().getShape();
    return abi::isBatchOfImages({dims.data(), dims.size()});
  });
}

/// Links the program or library to a temporary file.
llvm::Error ProgramWriter::link(const llvm::MemoryBuffer &code, StringRef output) {
  LinkInputs inputs = compilation.getTarget().getLinkInputs();
  inputs.hasRanks = compilation.getProgram().getRankCount() > 1;
  for (ModuleOp stage : stagesOf(compilation.getModule()))
    inputs.readsImages |= llvm::any_of(stage.getOps<StepOp>(), readsImages);
  const LinkRequest request{code, output, std::move(inputs)};
  return options.result == Result::Library
             ? linkLibrary(request, libraryFiles(outputName(options, compilation)).names)
             : linkProgram(request);
}

/// Links the program or library, writes its weights, and adds both to `outputs`. The linker is a
/// process of one thread, so the weights are written while it runs.
llvm::Error ProgramWriter::linkAndWriteWeights(const llvm::MemoryBuffer &code,
                                               std::vector<OutputFile> &outputs) {
  llvm::Expected<OutputFile> linked = OutputFile::create(*destination);
  if (!linked)
    return linked.takeError();
  std::optional<llvm::Error> linkError, weightsError;
  std::vector<OutputFile> weightsFiles;
  parallelFor(&compilation.getContext(), 0, 2, [&](size_t task) {
    if (task == 0)
      linkError = link(code, linked->getTemporaryPath());
    else if (weightsTarget)
      weightsError =
          addOutput(weightsFiles, *weightsTarget, [&](raw_ostream &os) { weights.write(os); });
  });
  llvm::Error error = weightsError ? std::move(*weightsError) : llvm::Error::success();
  if (*linkError) {
    llvm::consumeError(std::move(error)); // A full disk, for example, is reported once.
    return makeSystemFault(destination->what + ": " + llvm::toString(std::move(*linkError)));
  }
  outputs.push_back(std::move(*linked));
  llvm::move(weightsFiles, std::back_inserter(outputs));
  return error;
}

llvm::Error ProgramWriter::write(const llvm::MemoryBuffer &code) {
  ProgressLine line("linking and writing the " +
                    std::string(options.result == Result::Library ? "library" : "program"));
  std::vector<OutputFile> outputs;
  if (llvm::Error error = linkAndWriteWeights(code, outputs))
    return error;
  if (headerTarget)
    if (llvm::Error error =
            addOutput(outputs, *headerTarget, [&](raw_ostream &os) { os << header; }))
      return error;
  if (llvm::Error error = compilation.addRemarks(outputs))
    return error;
  return commit(outputs);
}

std::string ProgramWriter::describe() const {
  ProgramOp program = compilation.getProgram();
  return llvm::formatv("trains '{0}' with {1} and {2}, {3}, in {4}{5}", program.getModelName(),
                       program.getLoss().value_or("no loss"),
                       program.getOptimizer().value_or("no optimizer"), describeBatch(program),
                       formatBytes(plan.peak),
                       options.weights.empty() ? "" : ", from the weights in " + options.weights);
}

llvm::json::Object ProgramWriter::toJson() const {
  llvm::json::Object json = mtc::tool::toJson(plan, options.plan.fit.memory);
  addStages(compilation.getModule(), json);
  addRanks(largest, json);
  addShapes(largest, json);
  json["training"] = compilation.getParameters().training.toJson();
  json[options.result == Result::Library ? "library" : "program"] = destination->name;
  if (headerTarget)
    json["header"] = headerTarget->name;
  if (weightsTarget)
    json["weights"] = weightsTarget->name;
  if (!files.initialWeights.empty())
    json["initial_weights"] = files.initialWeights;
  return json;
}
