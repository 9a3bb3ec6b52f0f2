//===- KernelEmitter.cpp - Lowering of kernels to GPU launches --------------------------------===//

#include "codegen/gpu/KernelEmitter.h"

#include "codegen/gpu/AccessAnalysis.h"
#include "codegen/gpu/LaunchEmitter.h"
#include "codegen/program/ProgramTables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::gpu;

static mlir::gpu::GPUFuncOp createFunction(ImplicitLocOpBuilder &b, const Launch &launch,
                                           unsigned parameterCount) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), /*addressSpace=*/1);
  SmallVector<Type> parameters(parameterCount, pointer);
  auto function = mlir::gpu::GPUFuncOp::create(b, launch.symbol, b.getFunctionType(parameters, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  auto block = llvm::map_to_vector(launch.block, [](int64_t n) { return static_cast<int32_t>(n); });
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr(block));
  return function;
}

static void emitScatterLaunch(LaunchEmitter &emitter, const ScatterPlan &plan) {
  const bool startsAsZero = !emitter.kernel.addsOnto();
  if (startsAsZero && emitter.position == 0)
    return emitZeros(emitter, plan);
  if (emitter.position == (startsAsZero ? 1 : 0))
    return emitScatter(emitter, plan);
  auto results = emitter.resultNumbers();
  emitColumnSums(emitter, results, plan.partials, plan.chunks);
}

static void emitShape(LaunchEmitter &emitter, const LaunchPlan &plan) {
  if (const auto *shape = std::get_if<ElementwisePlan>(&plan.shape))
    return emitElementwise(emitter, *shape);
  if (const auto *shape = std::get_if<TransposePlan>(&plan.shape))
    return emitTranspose(emitter, *shape);
  if (const auto *shape = std::get_if<ScatterPlan>(&plan.shape))
    return emitScatterLaunch(emitter, *shape);
  const auto &shape = std::get<ReductionPlan>(plan.shape);
  bool isLast = emitter.position + 1 == plan.launches.size();
  if (!emitter.kernel.columnSums.empty() && isLast)
    return emitColumnSums(emitter, emitter.kernel.columnSums, shape.partials, shape.copies());
  emitReduction(emitter, shape);
}

mlir::gpu::GPUModuleOp mtc::gpu::emitKernel(const NormalKernel &kernel, const LaunchPlan &plan,
                                            const Hardware &hardware, StringRef name,
                                            ModuleOp module) {
  KernelYieldOp yield = kernel.yield;
  ImplicitLocOpBuilder b(yield->getParentOp()->getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto result = mlir::gpu::GPUModuleOp::create(b, kernelSymbol(name));
  Type indexType = fitsInto32Bits(kernel) ? b.getI32Type() : b.getI64Type();
  unsigned operandCount = kernel.inputs.size() + kernel.outputs.size();
  bool needsScratch = plan.scratchBytes > 0;
  bool mayFault = !kernel.body->getOps<KernelCheckOp>().empty();

  for (auto [position, launch] : llvm::enumerate(plan.nameLaunches(name))) {
    b.setInsertionPointToEnd(result.getBody());
    auto function = createFunction(b, launch, operandCount + needsScratch + mayFault);
    b.setInsertionPointToStart(&function.front());
    ValueRange parameters = function.getArguments();
    Value scratch = needsScratch ? parameters[operandCount] : Value();
    GlobalIterationEmitter iterations(b, kernel, parameters.take_front(operandCount),
                                      mayFault ? parameters.back() : Value(), indexType);
    ThreadBuilder threads(b, function, indexType, hardware);
    LaunchEmitter emitter{kernel,
                          b,
                          threads,
                          iterations,
                          parameters.slice(kernel.inputs.size(), kernel.outputs.size()),
                          scratch,
                          plan.scratchBytes,
                          launch,
                          static_cast<unsigned>(position)};
    emitShape(emitter, plan);
    mlir::gpu::ReturnOp::create(b);
  }
  return result;
}
