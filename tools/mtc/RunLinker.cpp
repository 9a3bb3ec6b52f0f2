//===- RunLinker.cpp - The linker lld as a part of mtc ----------------------------------------===//

#include "Commands.h"

#include "lld/Common/Driver.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

// Link-time optimization in lld registers Polly and all targets of LLVM. The objects of programs
// contain no bitcode, so these functions replace those of LLVM's archives: mtc would be twice as
// large with the code generators of targets that it does not use.

llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

#define MTC_UNUSED_TARGET(Name)                                                                    \
  void LLVMInitialize##Name##TargetInfo() {}                                                       \
  void LLVMInitialize##Name##Target() {}                                                           \
  void LLVMInitialize##Name##TargetMC() {}                                                         \
  void LLVMInitialize##Name##AsmPrinter() {}                                                       \
  void LLVMInitialize##Name##AsmParser() {}
extern "C" {
#include "unused_targets.inc"
}

int mtc::tool::runLinker(int argc, char **argv) {
  const bool isLinked =
      lld::elf::link({argv, argv + argc}, llvm::outs(), llvm::errs(), /*exitEarly=*/true,
                     /*disableOutput=*/false);
  return isLinked ? 0 : 1;
}
