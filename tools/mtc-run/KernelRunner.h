//===- KernelRunner.h - Kernels run as their target does --------------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_KERNELRUNNER_H
#define MTC_TOOLS_MTC_RUN_KERNELRUNNER_H

#include "mlir/Support/LLVM.h"
#include "runtime/abi/program.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mtc {

using Buffer = std::unique_ptr<char, void (*)(char *)>;

class KernelRunner {
public:
  /// For kernels of the program's target.
  static std::unique_ptr<KernelRunner> create(const MtcProgram &program);
  virtual ~KernelRunner() = default;

  /// Memory that kernels can reach, with each byte of this value.
  virtual Buffer allocate(int64_t bytes, int fill) = 0;
  /// Says that a kernel may read what is there.
  virtual void markDefined(char *memory, int64_t bytes) {}

  /// How the kernel is divided: " items 8 grain 1".
  virtual void describe(const MtcKernel &kernel, llvm::raw_ostream &os) = 0;
  /// Runs the kernel in an unusual order, which the result must not depend on. Fails where it does
  /// what it must not.
  virtual llvm::Error run(const MtcKernel &kernel, llvm::ArrayRef<char *> operands,
                          MtcFault &fault) = 0;
  /// Runs it as a program would.
  virtual void runOnce(const MtcKernel &kernel, llvm::ArrayRef<char *> operands,
                       MtcFault &fault) = 0;
};

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_KERNELRUNNER_H
