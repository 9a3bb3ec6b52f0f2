//===- KernelCost.h - Cost of a kernel --------------------------------------------------------===//

#ifndef MTC_IR_OPS_KERNELCOST_H
#define MTC_IR_OPS_KERNELCOST_H

#include "ir/Mtc.h"

namespace mtc {

/// Counts each arithmetic operation of the body once per iteration, and each function once per
/// iteration of the dimensions along which it varies. Also counts the bytes that are read of each
/// operand, and each result once.
Cost costOfKernel(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<int64_t> reduced, mlir::Block &body,
                  mlir::TypeRange outputs);

} // namespace mtc

#endif // MTC_IR_OPS_KERNELCOST_H
