//===- mtc.cpp - The compiler's command line --------------------------------------------------===//

#include "Commands.h"

#include "tools/support/StandardStreams.h"

#include "llvm/Support/InitLLVM.h"

using namespace mtc::tool;

int main(int argc, char **argv) {
  guardStandardStreams("mtc");
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  Options options;
  switch (parseCommandLine(argc, argv, options)) {
  case Command::Compile:
    return compile(options, argv[0]);
  case Command::Plan:
    return plan(options);
  case Command::Inspect:
    return inspect(options);
  }
}
