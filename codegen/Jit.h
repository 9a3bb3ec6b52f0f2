//===- Jit.h - A allocated program run inside the compiler's process
//-----------------------------===//
//
// For tests: the code that would go into a program's object file, called in place. Items of a
// kernel run one after another on the calling thread; contractions are plain loops.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_JIT_H
#define MTC_CODEGEN_JIT_H

#include "codegen/Codegen.h"
#include "runtime/abi/cpu.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <array>

namespace mtc {

/// The code of a kernel that runs on this machine's processor.
inline llvm::ArrayRef<MtcCpuStage> stagesOf(const MtcKernel &kernel) {
  const auto *code = static_cast<const MtcCpuKernel *>(kernel.code);
  return {code->stages, code->stage_count};
}

/// Runs code for this machine's processor; it may call the C library and what the process exports.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> createJit(const cpu::Processor &processor);

/// Zeroed memory, aligned as an arena is.
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

class JitProgram {
public:
  /// Compiles an allocated program. Variables start as the program says; those that come from a
  /// weights file, and normal ones, start as zeros.
  static mlir::FailureOr<std::unique_ptr<JitProgram>> create(mlir::ModuleOp placed, Target &target);

  /// Runs one of the module's steps. `inputs` and `outputs` are dense row-major buffers, one for
  /// each of the step's `inputs` and `outputs` in their order; a null pointer leaves the arena as
  /// it is, or the output unread. Fails when a kernel raises its fault.
  llvm::Error run(llvm::StringRef step, llvm::ArrayRef<const void *> inputs,
                  llvm::ArrayRef<void *> outputs);

  /// Bytes of the arena of an MtcSpace, of at least the size that `mtc.arena` says.
  char *arena(uint32_t space = MTC_DEVICE) { return arenas[space].data(); }
  const MtcProgram &program() const { return *table; }

private:
  JitProgram() = default;
  llvm::Error execute(const MtcFunction &function);

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
  std::array<AlignedBytes, MTC_DISK + 1> arenas; ///< by MtcSpace
};

} // namespace mtc

#endif // MTC_CODEGEN_JIT_H
