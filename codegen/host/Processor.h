//===- Processor.h - Host processor description and code generation ---------------------------===//

#ifndef MTC_CODEGEN_HOST_PROCESSOR_H
#define MTC_CODEGEN_HOST_PROCESSOR_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mtc::cpu {

/// A processor: an LLVM CPU name and a list of LLVM target features (`+avx2,-avx512f`).
struct Processor {
  std::string cpu, features;
  /// Returns whether the processor has vector instructions that convert f32 to and from the type.
  bool hasBFloat16Conversion() const;
  bool hasFloat16Conversion() const;
  /// Returns whether the processor has 512-bit registers.
  bool hasAvx512() const;
  /// Returns whether the processor multiplies bf16 faster than f32.
  bool hasBFloat16Products() const;

private:
  bool has(llvm::StringRef feature) const;
};

/// Returns the processor of an LLVM CPU name. `host` is the machine that compiles, described by its
/// detected features, since its model is often unknown to LLVM. `extraFeatures` are appended to the
/// feature list.
llvm::Expected<Processor> describeProcessor(llvm::StringRef cpu, llvm::StringRef extraFeatures);

/// Creates a machine for position-independent code. `optLevel` is LLVM's, 0 to 3.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Processor &processor,
                                                                         unsigned optLevel);

/// Runs LLVM's pipeline of `optLevel`, without vectorization: the code is already vectorized.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned optLevel);

/// Returns the module in the machine's assembly language.
llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);

/// Returns the object file of the module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> emitObject(llvm::Module &module,
                                                               llvm::TargetMachine &machine);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_HOST_PROCESSOR_H
