//===- mtc.cpp - The compiler's command line --------------------------------------------------===//

#include "Commands.h"

#include "driver/FitSearch.h"
#include "tools/support/StandardStreams.h"

#include "llvm/Support/InitLLVM.h"

using namespace mtc::tool;

int main(int argc, char **argv) {
  guardStandardStreams("mtc");
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  Options options;
  switch (parseCommandLine(argc, argv, options)) {
  case Command::Compile:
    return mlir::failed(chooseAllowed(options)) ? 1 : compile(options, argv[0]);
  case Command::Plan:
    return mlir::failed(chooseAllowed(options)) ? 1 : plan(options);
  case Command::Inspect:
    return inspect(options);
  }
}
