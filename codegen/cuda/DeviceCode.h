//===- DeviceCode.h - Lowering of gpu modules to PTX ------------------------------------------===//
//
//   gpu.module --lowerDeviceModules--> llvm and nvvm dialects --translateDeviceModule--> LLVM IR
//              --linkLibdevice, optimizeDevice--> LLVM IR --emitPtx--> text
//
// All functions except the first operate on a single module and are thread-safe.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_DEVICECODE_H
#define MTC_CODEGEN_CUDA_DEVICECODE_H

#include "codegen/cuda/Architecture.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace mtc::cuda {

/// Registers the dialects of device code and their translations to LLVM IR.
void registerDeviceDialects(mlir::DialectRegistry &registry);

/// Lowers all gpu.modules of the module in place, on the context's threads.
mlir::LogicalResult lowerDeviceModules(mlir::ModuleOp module);

/// Translates a lowered gpu.module to unoptimized LLVM IR for NVPTX. The `llvm.dereferenceable`
/// attributes of kernel parameters are removed, so that LLVM does not introduce speculative loads;
/// `parameterExtents` still returns them. Returns null after emitting diagnostics if the module
/// cannot be translated.
std::unique_ptr<llvm::Module> translateDeviceModule(mlir::Operation *gpuModule,
                                                    llvm::LLVMContext &context);

/// Returns the number of dereferenceable bytes of each kernel parameter, or -1 if unknown.
llvm::SmallVector<int64_t> parameterExtents(const llvm::Function &kernel);
void setParameterExtents(llvm::Function &kernel, llvm::ArrayRef<int64_t> extents);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createDeviceMachine(const Architecture &architecture, unsigned optLevel);

/// Links the used functions of CUDA's libdevice into the module. Fails if the module calls an
/// undefined function. Modules that use no libdevice function do not need a CUDA toolkit.
llvm::Error linkLibdevice(llvm::Module &module);

/// Compiles a translated module to PTX: links libdevice and optimizes the module.
llvm::Expected<std::string> emitPtx(llvm::Module &module, const Architecture &architecture,
                                    unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECODE_H
