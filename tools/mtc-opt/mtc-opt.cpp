//===- mtc-opt.cpp - Runs the compiler's passes on textual IR ---------------------------------===//

#include "codegen/Codegen.h"
#include "codegen/passes/Passes.h"
#include "frontend/convert/Passes.h"
#include "frontend/exporters/Passes.h"
#include "frontend/inference/Passes.h"
#include "frontend/operators/Operators.h"
#include "frontend/rows/Passes.h"
#include "ir/Mtc.h"
#include "passes/Passes.h"
#include "passes/pipelines/Pipelines.h"
#include "tools/support/StandardStreams.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

/// `--show-onnx-operators`: one operator that is converted a line, `domain::name` outside ai.onnx.
static int showOperators() {
  for (llvm::StringRef name : mtc::onnx::Operators::get().convertedNames())
    llvm::outs() << name << '\n';
  return 0;
}

int main(int argc, char **argv) {
  mtc::tool::guardStandardStreams("mtc-opt");
  if (argc == 2 && llvm::StringRef(argv[1]) == "--show-onnx-operators")
    return showOperators();
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
  mtc::onnx::registerRowsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Runs the compiler's passes on textual IR\n", registry));
}
