//===- Gradient.cpp - `mtc grad` --------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Compilation.h"
#include "driver/Frontends.h"
#include "driver/ProgressLine.h"
#include "driver/StageText.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "support/compiler/Errors.h"
#include "support/compiler/OutputFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Passes whose results ONNX cannot express, or only with more operators: attention as one
/// operation, and layouts with the channels last.
constexpr llvm::StringLiteral skippedPasses[] = {"mtc-recognize-attention",
                                                 "mtc-keep-channels-last"};

/// The files of a gradient model.
struct GradientFiles {
  OutputTarget model;
  std::optional<OutputTarget> data;
};

llvm::Expected<GradientFiles> chooseFiles(const Options &options, Compilation &compilation,
                                          bool hasData) {
  const std::string path = options.output.empty()
                               ? compilation.getProgram().getModelName().str() + ".gradient.onnx"
                               : options.output;
  const std::string what =
      options.output.empty() ? path + " (the gradient; use -o to name it)" : "-o " + path;
  auto model = compilation.getOutputs().add(what, path, /*isStream=*/!hasData);
  if (!model)
    return model.takeError();
  if (!hasData)
    return GradientFiles{std::move(*model), std::nullopt};
  const std::string dataPath = model->name + ".data";
  auto data = compilation.getOutputs().add(dataPath + " (the gradient's data, named after it)",
                                           dataPath, /*isStream=*/false);
  if (!data)
    return data.takeError();
  return GradientFiles{std::move(*model), std::move(*data)};
}

llvm::Error writeFiles(GradientModel &model, const GradientFiles &targets) {
  ProgressLine line("writing the gradient");
  if (targets.data)
    model.useDataFile(llvm::sys::path::filename(targets.data->name));
  std::vector<OutputFile> files;
  if (targets.data)
    if (llvm::Error error =
            addOutput(files, *targets.data, [&](raw_ostream &os) { model.writeData(os); }))
      return error;
  if (llvm::Error error =
          addOutput(files, targets.model, [&](raw_ostream &os) { model.write(os); }))
    return error;
  return commit(files);
}

} // namespace

int mtc::tool::writeGradient(const Options &given) {
  if (isStageText(given.model))
    fail(given.model + ": stage text; expected an ONNX model");
  Options options = given;
  options.unroll = INT64_MAX; // The gradient of a loop has no form in ONNX.
  options.plan.passes.skipped.assign(std::begin(skippedPasses), std::end(skippedPasses));
  Compilation compilation(options);
  if (failed(compilation.import()))
    return 1;
  compilation.getModule()->removeAttr(settingsAttribute); // ONNX models have no settings.
  if (failed(compilation.lower(Stage::Forward)) ||
      failed(compilation.differentiate(getFrontend().getGradientOperations())))
    return 1;
  Problems problems;
  std::unique_ptr<GradientModel> model = compilation.getModel()->makeGradient(
      compilation.getModule(), {options.parametersAreInputs, MTC_VERSION}, problems);
  if (!model) {
    for (const std::string &problem : problems.get())
      emitError(UnknownLoc::get(&compilation.getContext()), problem);
    return 1;
  }
  llvm::Expected<GradientFiles> targets = chooseFiles(options, compilation, model->needsDataFile());
  if (!targets)
    return report(targets.takeError());
  if (llvm::Error error = writeFiles(*model, *targets))
    return report(std::move(error));
  if (targets->model.isReplaced) { // The model may be written to standard output.
    const size_t count = model->getGradientCount();
    ProgramOp program = compilation.getProgram();
    show(llvm::formatv("{0}: loss {1} of '{2}', {3} gradient{4}\n", targets->model.name,
                       *program.getLoss(), program.getModelName(), count, count == 1 ? "" : "s")
             .str());
  }
  return 0;
}
