//===- mtc-opt.cpp - Runs the compiler's passes on textual IR ---------------------------------===//

#include "codegen/Codegen.h"
#include "codegen/Passes.h"
#include "frontend/convert/Passes.h"
#include "frontend/inference/Passes.h"
#include "ir/Mtc.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mtc::MtcDialect, mtc::onnx::OnnxDialect>();
  mlir::registerAllPasses();
  mtc::registerCodegenDialects(registry);
  mtc::registerMtcCodegenPasses();
  mtc::registerMtcPasses();
  mtc::registerMtcPipelines();
  mtc::onnx::registerOnnxPasses();
  mtc::onnx::registerConversionPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Runs the compiler's passes on textual IR\n", registry));
}
