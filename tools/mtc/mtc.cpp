//===- mtc.cpp - The compiler's command line --------------------------------------------------===//

#include "Commands.h"

#include "llvm/Support/InitLLVM.h"

using namespace mtc::tool;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
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
