//===- mtc-opt.cpp - Runs the compiler's passes on textual IR ---------------------------------===//

#include "codegen/Codegen.h"
#include "codegen/passes/Passes.h"
#include "frontend/batching/Passes.h"
#include "frontend/onnx/convert/Passes.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/inference/Passes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/parameters/Passes.h"
#include "ir/Mtc.h"
#include "passes/Passes.h"
#include "passes/pipelines/Pipelines.h"
#include "support/compiler/Errors.h"
#include "support/compiler/OutOfMemory.h"
#include "support/compiler/OutputFile.h"
#include "support/compiler/StandardStreams.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

// Only this tool registers passes: the generated functions take half a second to compile.
namespace mtc {
#define GEN_PASS_REGISTRATION
#include "codegen/passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "frontend/batching/Passes.h.inc"
namespace onnx {
#define GEN_PASS_REGISTRATION
#include "frontend/onnx/convert/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "frontend/onnx/exporters/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "frontend/onnx/inference/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "frontend/onnx/parameters/Passes.h.inc"
} // namespace onnx
} // namespace mtc

using namespace mtc::tool;

/// `--show-onnx-operators`: prints one supported operator per line, as `domain::name` outside
/// ai.onnx.
static int showOperators() {
  for (llvm::StringRef name : mtc::onnx::Operators::get().convertedNames())
    llvm::outs() << name << '\n';
  return 0;
}

/// `--show-operations`: prints one operation of the `mtc` dialect per line.
static int showOperations() {
  mlir::MLIRContext context;
  context.getOrLoadDialect<mtc::MtcDialect>();
  for (mlir::RegisteredOperationName name :
       context.getRegisteredOperationsByDialect(mtc::MtcDialect::getDialectNamespace()))
    llvm::outs() << name.getStringRef() << '\n';
  return 0;
}

/// `-o FILE`: writes the text atomically, and reports errors of the file.
static llvm::Error writeResult(llvm::StringRef input, const std::string &output,
                               mlir::DialectRegistry &registry,
                               const mlir::MlirOptMainConfig &config, bool &isProcessed) {
  std::string problem, text;
  auto file = mlir::openInputFile(input, &problem);
  if (!file)
    return makeUserError(problem);
  llvm::raw_string_ostream stream(text);
  isProcessed = succeeded(mlir::MlirOptMain(stream, std::move(file), registry, config));
  if (!isProcessed)
    return llvm::Error::success();
  auto target = OutputPolicy(/*isForced=*/true).add("-o " + output, output, /*isStream=*/true);
  if (!target)
    return target.takeError();
  return writeOutput(*target, [&](llvm::raw_ostream &os) { os << text; });
}

int main(int argc, char **argv) {
  guardStandardStreams("mtc-opt");
  guardMemory("mtc-opt");
  if (argc == 2 && llvm::StringRef(argv[1]) == "--show-onnx-operators")
    return showOperators();
  if (argc == 2 && llvm::StringRef(argv[1]) == "--show-operations")
    return showOperations();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mtc::MtcDialect, mtc::onnx::OnnxDialect>();
  mlir::registerAllPasses();
  mtc::registerCodegenDialects(registry);
  mtc::registerMtcCodegenPasses();
  mtc::registerMtcPasses();
  mtc::registerMtcPipelines();
  mtc::onnx::registerOnnxPasses();
  mtc::onnx::registerExportersPasses();
  mtc::onnx::registerExportersPipeline();
  mtc::onnx::registerConversionPasses();
  mtc::onnx::registerParametersPasses();
  mtc::registerBatchingPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Runs the compiler's passes on textual IR\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (output == "-" || config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  bool isProcessed = true;
  if (llvm::Error error = writeResult(input, output, registry, config, isProcessed))
    return report("mtc-opt", std::move(error));
  return isProcessed ? exitDone : exitUserInput;
}
