//===- Lowering.cpp - Lowering of emitted kernels to the LLVM dialect -------------------------===//

#include "codegen/cpu/Lowering.h"

#include "codegen/cpu/CpuDialect.h"
#include "codegen/cpu/KernelEmitter.h"
#include "codegen/passes/Passes.h"
#include "codegen/program/ProgramTables.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/Threading.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mtc;

OwningOpRef<ModuleOp> cpu::emitKernels(MLIRContext *context, ArrayRef<KernelFunctionOp> kernels,
                                       TablePermutations permutations) {
  OpBuilder b(context);
  OwningOpRef<ModuleOp> result = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(result->getBody());
  SmallVector<ModuleOp> modules;
  for (KernelFunctionOp kernel : kernels)
    modules.push_back(ModuleOp::create(b, kernel.getLoc()));
  parallelFor(context, 0, kernels.size(), [&](size_t i) {
    KernelFunctionOp function = kernels[i];
    emitKernel(normalizeKernel(function), planOf(function), kernelSymbol(function.getSymName()),
               modules[i], permutations);
  });
  return result;
}

void cpu::addLowering(OpPassManager &pm, const ExpandedConversions &expanded) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createApproximateMath());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createExpandNarrowFloats({expanded.bfloat16, expanded.float16}));
  pm.addPass(createSCFToControlFlowPass());
  // Math operations without an LLVM intrinsic call the C library for each lane.
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

LogicalResult cpu::lowerKernels(ModuleOp kernels, const ExpandedConversions &expanded) {
  PassManager pm(kernels.getContext());
#ifdef NDEBUG
  // Verification after each pass would take a third of the time of the passes.
  pm.enableVerifier(false);
#endif
  addLowering(pm.nest<ModuleOp>(), expanded);
  return success(succeeded(pm.run(kernels)) && succeeded(verify(kernels)));
}
