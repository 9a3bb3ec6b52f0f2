//===- LLVMPasses.cpp - Running LLVM passes on a module ---------------------------------------===//

#include "codegen/host/LLVMPasses.h"

using namespace llvm;

void mtc::runPasses(Module &module, PassBuilder &builder, ModulePassManager passes) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  passes.run(module, modules);
}
