//===- KernelInterpreter.h - Reference interpreter for kernels --------------------------------===//
//
// The reference with which tests compare generated code. The interpreter shares no code with the
// emitters: it iterates over the kernel's space in order and folds the body's operations to
// constants.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H
#define MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H

#include "ir/Mtc.h"
#include "llvm/Support/Error.h"

namespace mtc {

/// Computes a kernel function on dense row-major buffers, with float sums and products in f64.
/// Fails if the kernel would raise its fault, and for operations that do not fold.
llvm::Error interpretKernel(KernelFunctionOp kernel, llvm::ArrayRef<const char *> inputs,
                            llvm::ArrayRef<char *> outputs);

/// Reads an element from memory as an attribute of its scalar type.
mlir::TypedAttr readElement(const char *bytes, mlir::Type element);
/// Writes an attribute to memory as an element of the given type.
void writeElement(char *bytes, mlir::Type element, mlir::Attribute value);

} // namespace mtc

#endif // MTC_CODEGEN_KERNELS_KERNELINTERPRETER_H
