//===- mtc.cpp - The compiler's command line --------------------------------------------------===//

#include "Commands.h"

#include "driver/CommandLine.h"
#include "driver/PlanChoice.h"
#include "support/compiler/OutOfMemory.h"
#include "support/compiler/StandardStreams.h"

#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"

using namespace mtc::tool;

int main(int argc, char **argv) {
  guardStandardStreams("mtc");
  guardMemory("mtc");
  // mtc links in a process of its own, which a full disk may terminate (codegen/ProgramLinker.h).
  if (llvm::sys::path::filename(argv[0]) == "ld.lld")
    return runLinker(argc, argv);
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  Options options;
  const Command command = parseCommandLine(argc, argv, options);
  if (command == Command::Inspect)
    return inspect(options);
  if (command == Command::Sweep)
    return sweep(options);
  if (command == Command::Gradient)
    return writeGradient(options);
  std::unique_ptr<Compilation> compilation = choosePlan(options);
  if (!compilation)
    return 1;
  return command == Command::Plan ? plan(options, *compilation) : compile(options, *compilation);
}
