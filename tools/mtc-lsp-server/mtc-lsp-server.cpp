//===- mtc-lsp-server.cpp - Language server for textual IR ------------------------------------===//

#include "frontend/onnx/dialect/Onnx.h"
#include "ir/Mtc.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<mtc::MtcDialect, mtc::onnx::OnnxDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
