//===- DeviceLowering.cpp - Lowering of gpu modules to the LLVM and NVVM dialects -------------===//

#include "codegen/cuda/DeviceCode.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mtc;

void cuda::registerDeviceDialects(DialectRegistry &registry) {
  registry.insert<mlir::gpu::GPUDialect, NVVM::NVVMDialect>();
  // The conversion to NVVM uses these dialects' conversion interfaces.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

namespace {

/// Clears the sign bit, for which the device has an instruction: the conversion to NVVM would call
/// libdevice.
struct ExpandAbsolute : OpRewritePattern<math::AbsFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::AbsFOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type integers = b.getIntegerType(bits);
    TypedAttr mask = b.getIntegerAttr(integers, APInt::getSignedMaxValue(bits));
    if (auto vector = dyn_cast<VectorType>(type)) {
      integers = vector.clone(integers);
      mask = DenseElementsAttr::get(cast<VectorType>(integers), mask);
    }
    Value cleared = arith::AndIOp::create(b, arith::BitcastOp::create(b, integers, op.getOperand()),
                                          arith::ConstantOp::create(b, mask));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, cleared);
    return success();
  }
};

/// Expands absolute values, and divisions that round up or down. The device has instructions for
/// the other operations that the pass arith-expand would expand.
struct ExpandArithmetic : PassWrapper<ExpandArithmetic, OperationPass<mlir::gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandArithmetic)
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandAbsolute>(&getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult cuda::lowerDeviceModules(ModuleOp module) {
  PassManager manager(module.getContext());
  OpPassManager &pm = manager.nest<mlir::gpu::GPUModuleOp>();
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(std::make_unique<ExpandArithmetic>());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertGpuOpsToNVVMOps());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}
