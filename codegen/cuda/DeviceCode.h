//===- DeviceCode.h - From gpu modules to PTX -------------------------------------------------===//
//
//   gpu.module --lowerDeviceModules--> llvm and nvvm dialects --translateDeviceModule--> LLVM IR
//              --linkLibdevice, optimizeDevice--> LLVM IR --emitPtx--> text
//
// Each function but the first works on one module and may run on any thread.
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

/// The dialects of device code, and their translation to LLVM IR.
void registerDeviceDialects(mlir::DialectRegistry &registry);

/// Lowers every gpu.module of the module in place, on the context's threads.
mlir::LogicalResult lowerDeviceModules(mlir::ModuleOp module);

/// A lowered gpu.module as LLVM IR of NVPTX, not optimized. What kernels' parameters are said to
/// point to (`llvm.dereferenceable`) is no attribute in it, so that nothing is read that the code
/// does not read, but known to `parameterExtents`. Null where it cannot be translated; there are
/// diagnostics then.
std::unique_ptr<llvm::Module> translateDeviceModule(mlir::Operation *gpuModule,
                                                    llvm::LLVMContext &context);

/// Bytes that each parameter of a kernel points to; -1 where nothing is said.
llvm::SmallVector<int64_t> parameterExtents(const llvm::Function &kernel);
void setParameterExtents(llvm::Function &kernel, llvm::ArrayRef<int64_t> extents);

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createDeviceMachine(const Architecture &architecture, unsigned optLevel);

/// Links what the module uses of CUDA's libdevice. Fails where a function is called that is not
/// there. Modules that use none need no toolkit.
llvm::Error linkLibdevice(llvm::Module &module);

/// Makes a translated module PTX: libdevice is linked, the module optimized.
llvm::Expected<std::string> emitPtx(llvm::Module &module, const Architecture &architecture,
                                    unsigned optLevel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_DEVICECODE_H
