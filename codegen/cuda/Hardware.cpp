//===- Hardware.cpp - Properties of NVIDIA GPUs that kernels depend on ------------------------===//

#include "codegen/cuda/Hardware.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

const mtc::gpu::Hardware mtc::cuda::hardware = {
    .warp = 32,
    .synchronizeWarp =
        [](ImplicitLocOpBuilder &b) {
          NVVM::SyncWarpOp::create(b, arith::ConstantOp::create(b, b.getI32IntegerAttr(-1)));
        },
};
