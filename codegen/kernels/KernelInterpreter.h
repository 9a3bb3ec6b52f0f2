//===- KernelInterpreter.h - What a kernel means, point by point ------------------------------===//
//
// The reference that tests compare emitted code with. It shares nothing with the emitters: it walks
// the kernel's space in order and folds the body's operations to constants.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H
#define MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H

#include "ir/Mtc.h"
#include "llvm/Support/Error.h"

namespace mtc {

/// Computes a kernel function on dense row-major buffers. Sums and products of floats are taken in
/// f64. Fails where the kernel's fault would be raised, and for operations that do not fold.
llvm::Error interpretKernel(KernelFunctionOp kernel, llvm::ArrayRef<const char *> inputs,
                            llvm::ArrayRef<char *> outputs);

/// An element of memory as an attribute of its scalar type, and back.
mlir::TypedAttr readElement(const char *bytes, mlir::Type element);
void writeElement(char *bytes, mlir::Type element, mlir::Attribute value);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H
