//===- CompilationText.cpp - Compilation from the text of a stage -----------------------------===//

#include "driver/Compilation.h"
#include "driver/Frontends.h"
#include "driver/StageText.h"

#include "ir/interfaces/TargetInfo.h"
#include "support/compiler/InputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Returns the hex digest of a file.
static llvm::Expected<std::string> digestOf(StringRef path) {
  llvm::Expected<InputFile> file = readInputFile(path, anyBytes, FileForm::Binary);
  if (!file)
    return file.takeError();
  llvm::TruncatedBLAKE3<16> digest;
  digest.update(file->bytes());
  return llvm::toHex(digest.final(), /*LowerCase=*/true);
}

static ArrayAttr stringsOf(MLIRContext &context, ArrayRef<std::string> texts) {
  if (texts.empty())
    return {};
  return Builder(&context).getStrArrayAttr(llvm::to_vector_of<StringRef>(texts));
}

static std::vector<std::string> textsOf(ArrayAttr strings) {
  std::vector<std::string> texts;
  if (strings)
    for (auto string : strings.getAsRange<StringAttr>())
      texts.push_back(string.str());
  return texts;
}

void Compilation::describeProgram() {
  auto builder = OpBuilder::atBlockBegin(module->getBody());
  auto program = ProgramOp::create(builder, module->getLoc(), model->getName(), Stage::Imported);
  llvm::SmallString<256> path(options.model);
  // The path stays relative if the working directory does not exist.
  static_cast<void>(llvm::sys::fs::make_absolute(path));
  std::string digest;
  if (options.result == Result::Text || !options.irFolder.empty() || !options.reproducer.empty()) {
    if (llvm::Expected<std::string> found = digestOf(path))
      digest = std::move(*found);
    else
      llvm::consumeError(found.takeError()); // The model has been removed in the meantime.
  }
  program.setSourceAttr(SourceAttr::get(
      context.get(), path, digest, options.sharedInitializers, stringsOf(*context, options.train),
      stringsOf(*context, options.freeze), stringsOf(*context, options.lora),
      stringsOf(*context, options.tie), stringsOf(*context, options.untie)));
  for (const ModelInput &input : model->getInputs()) {
    if (llvm::is_contained(llvm::make_first_range(binds), input.name))
      continue;
    InputOp added = program.findOrAddInput(input.name);
    if (!input.dims.empty())
      added.setAxis(input.dims.front());
  }
}

LogicalResult Compilation::readText() {
  module = readStageText(options.model, *context);
  if (!module || failed(checkFlags()) || failed(readSource()))
    return failure();
  protectInputs();
  prepareReports();
  return chooseTarget((*module)->getAttrOfType<TargetAttrInterface>(targetAttribute));
}

/// Rejects flags that the text's stage has already decided.
LogicalResult Compilation::checkFlags() {
  Stage stage = getProgram().getStage();
  bool isAllowed = true;
  auto refuse = [&](const Twine &text, StringRef reason) {
    emitError(UnknownLoc::get(context.get()), text + ": ")
        << options.model << " is at stage " << stringifyStage(stage) << reason;
    isAllowed = false;
  };
  for (const GivenFlag &flag : options.given)
    if (flag.decidedBy <= stage)
      refuse(flag.text, ", where this flag has no effect; use it to compile the model");
  if (options.result == Result::Text && options.stage < stage)
    refuse("--emit " + stringifyStage(options.stage), ", a later stage");
  return success(isAllowed);
}

/// Reads the model from which the text was made. Without the model, only randomly initialized
/// weights are available, and the program cannot export.
LogicalResult Compilation::readSource() {
  SourceAttr source = getProgram().getSourceAttr();
  if (!source)
    return success();
  llvm::SmallString<256> path(source.getFile());
  if (!llvm::sys::fs::exists(path)) {
    path = llvm::sys::path::parent_path(options.model);
    llvm::sys::path::append(path, llvm::sys::path::filename(source.getFile()));
  }
  if (!llvm::sys::fs::exists(path)) {
    warn(options.model + " was made from " + source.getFile() +
         ", which was not found there or in the same folder: its weights are missing");
    return success();
  }
  if (!source.getDigest().empty()) {
    llvm::Expected<std::string> digest = digestOf(path);
    if (!digest)
      return emitError(UnknownLoc::get(context.get()))
             << path << ", which " << options.model
             << " was made from: " << llvm::toString(digest.takeError());
    if (source.getDigest() != *digest)
      return emitError(UnknownLoc::get(context.get()))
             << path << " has changed since " << options.model
             << " was made from it; compile the model again";
  }
  Problems problems;
  model = getFrontend().read(path, problems);
  if (!model)
    return report(problems);
  // Same import as for the text. Dimensions and outputs are irrelevant here.
  OwningOpRef<ModuleOp> graph = model->import(
      *context,
      {.dims = {}, .binds = {}, .allOutputsOptional = true, .allowUnboundDimensions = true},
      problems);
  LogicalResult chosen = runQuietly(*graph, [&](OpPassManager &manager) {
    getFrontend().buildParameterPasses(
        manager,
        {source.getMerged(),
         textsOf(source.getTie()),
         textsOf(source.getUntie()),
         {textsOf(source.getTrain()), textsOf(source.getFreeze()), source.getLora() != nullptr}},
        /*unrollLimit=*/std::nullopt);
  });
  parameters = model->describeParameters(*graph);
  return success(succeeded(report(problems)) && succeeded(chosen));
}
