// Processes ONNX models like `mtc plan`: they are read, imported, converted and compiled into
// training programs with memory plans.
#include "test/fuzz/written_input.h"

#include "driver/Compilation.h"
#include "frontend/Dimensions.h"
#include "frontend/onnx/reader/Model.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace mtc::fuzz {

/// All symbolic dimensions have the same size.
static void bindDimensions(tool::Options &options) {
  Problems problems;
  std::unique_ptr<onnx::Model> model = onnx::Model::read(options.model, problems);
  if (!model)
    return;
  for (const onnx::SymbolicDimension &dimension : model->symbolicDimensions())
    for (const std::string &name : dimensionNames(dimension.text))
      if (!name.empty() && !llvm::isDigit(name.front()))
        options.plan.dims[name] = 3;
}

/// Counts errors, which the tool would print. The error for an invalid model names its nodes. An
/// error that names an internal operation comes from the verifier after a faulty pass.
static LogicalResult count(Diagnostic &diagnostic, unsigned &errors) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success();
  ++errors;
  if (StringRef(diagnostic.str()).starts_with("'"))
    std::abort();
  return success();
}

/// Aborts at a failure without an error message, and at an error without a failure.
static void plan(const std::string &path, const char *loss) {
  tool::Options options;
  options.model = path;
  options.plan.training.loss.loss = loss;
  options.threads = 1;
  bindDimensions(options);
  tool::Compilation compilation(options);
  compilation.getContext().disableMultithreading();
  unsigned errors = 0;
  ScopedDiagnosticHandler handler(
      &compilation.getContext(), [&](Diagnostic &diagnostic) { return count(diagnostic, errors); });
  const bool isPlanned =
      succeeded(compilation.import()) && succeeded(compilation.lower(Stage::Allocated));
  if (isPlanned != (errors == 0))
    std::abort();
}

} // namespace mtc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Returns the loss that the outputs imply, or one that most outputs support.
  const char *loss = size % 2 ? "" : "mse";
  mtc::fuzz::plan(mtc::fuzz::Folder::get().write("model.onnx", data, size), loss);
  return 0;
}
