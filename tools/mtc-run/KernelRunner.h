//===- KernelRunner.h - Execution of kernels on their target ----------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_KERNELRUNNER_H
#define MTC_TOOLS_MTC_RUN_KERNELRUNNER_H

#include "mlir/Support/LLVM.h"
#include "runtime/abi/program.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mtc {

using Buffer = std::unique_ptr<char, void (*)(char *)>;

/// Runs the kernels of a compiled program on the CPU, natively or in the GPU emulator.
class KernelRunner {
public:
  /// Creates a runner for the kernels of the program's target.
  static std::unique_ptr<KernelRunner> create(const MtcProgram &program);
  virtual ~KernelRunner() = default;

  /// Allocates memory that kernels can access, with each byte set to `fill`.
  virtual Buffer allocate(int64_t bytes, int fill) = 0;
  /// Marks memory as initialized.
  virtual void markDefined(char *memory, int64_t bytes) {}

  /// Prints how the kernel is divided: " items 8 grain 1".
  virtual void describe(const MtcKernel &kernel, llvm::raw_ostream &os) = 0;
  /// Runs the kernel in an unusual order, which must not affect the result. Fails if the kernel
  /// performs an invalid operation.
  virtual llvm::Error run(const MtcKernel &kernel, llvm::ArrayRef<char *> operands,
                          MtcFault &fault) = 0;
  /// Runs the kernel once, in the order that a program would use.
  virtual void runOnce(const MtcKernel &kernel, llvm::ArrayRef<char *> operands,
                       MtcFault &fault) = 0;
};

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_KERNELRUNNER_H
