//===- Jit.h - In-process execution of allocated programs -------------------------------------===//
//
// Runs the code of a program inside the compiler's process, for tests. Work items of a kernel run
// sequentially on the calling thread. Contractions are computed by plain loops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_JIT_H
#define MTC_CODEGEN_JIT_H

#include "codegen/Codegen.h"
#include "runtime/abi/cpu.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <array>

namespace mtc {

/// Returns the code of a kernel that was compiled for this machine's processor.
inline llvm::ArrayRef<MtcCpuStage> stagesOf(const MtcKernel &kernel) {
  const auto *code = static_cast<const MtcCpuKernel *>(kernel.code);
  return {code->stages, code->stage_count};
}

/// Creates a JIT for this machine's processor. JIT-compiled code may call the C library and the
/// symbols that the process exports.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> createJit(const cpu::Processor &processor);

/// Zero-initialized memory with the alignment of an arena.
class AlignedBytes {
public:
  explicit AlignedBytes(int64_t size = 0)
      : storage(std::make_unique<char[]>(static_cast<size_t>(size) + MTC_ALIGNMENT)) {}
  char *data() const {
    return reinterpret_cast<char *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(storage.get()), MTC_ALIGNMENT));
  }

private:
  std::unique_ptr<char[]> storage;
};

/// An allocated program, compiled into this process.
class JitProgram {
public:
  /// Compiles an allocated program. Variables have the initial values that the program specifies,
  /// except those from a weights file or a normal distribution, which start as zeros.
  static mlir::FailureOr<std::unique_ptr<JitProgram>> create(mlir::ModuleOp placed, Target &target);

  /// Runs one of the module's steps. `inputs` and `outputs` are dense row-major buffers, one for
  /// each of the step's `inputs` and `outputs`, in order. A null input leaves the arena's contents
  /// unchanged; a null output is not copied. Fails if a kernel raises its fault.
  llvm::Error run(llvm::StringRef step, llvm::ArrayRef<const void *> inputs,
                  llvm::ArrayRef<void *> outputs);

  /// Returns the arena of an MtcSpace, of at least the size that `mtc.arena` specifies.
  char *arena(uint32_t space = MTC_DEVICE) { return arenas[space].data(); }
  const MtcProgram &program() const { return *table; }

private:
  JitProgram() = default;
  llvm::Error execute(const MtcFunction &function);
  llvm::Error execute(const MtcOperation &operation, int64_t iteration);

  struct Slice {
    int64_t offset, bytes;
  };
  struct Step {
    llvm::SmallVector<Slice> inputs, outputs;
    MtcFunction function;
  };

  std::unique_ptr<llvm::orc::LLJIT> jit;
  const MtcProgram *table = nullptr;
  llvm::StringMap<Step> steps;
  std::array<AlignedBytes, MTC_DISK + 1> arenas; ///< indexed by MtcSpace
};

} // namespace mtc

#endif // MTC_CODEGEN_JIT_H
