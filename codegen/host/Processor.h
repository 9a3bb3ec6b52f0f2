//===- Processor.h - The processor that code is for, and code for it --------------------------===//

#ifndef MTC_CODEGEN_HOST_PROCESSOR_H
#define MTC_CODEGEN_HOST_PROCESSOR_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace mtc::cpu {

/// A processor. `features` is a list as LLVM writes it (`+avx2,-avx512f`).
struct Processor {
  std::string cpu, features;
  /// Whether it has instructions that convert f32 to and from the type, in whole vectors.
  bool hasBFloat16Conversion() const;
  bool hasFloat16Conversion() const;
  /// Whether it has registers of 512 bits.
  bool hasAvx512() const;
  /// Whether it multiplies bf16 faster than f32.
  bool hasBFloat16Products() const;

private:
  bool has(llvm::StringRef feature) const;
};

/// `host` is the machine that compiles: its list of features, since processors that LLVM does not
/// know by name are common; otherwise a name that LLVM knows. `extraFeatures` are added at the end.
llvm::Expected<Processor> describeProcessor(llvm::StringRef cpu, llvm::StringRef extraFeatures);

/// `optLevel` is 0 to 3. Position-independent code.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine(const Processor &processor,
                                                                         unsigned optLevel);

/// Runs LLVM's pipeline of `optLevel`. The code is vectorized already.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, unsigned optLevel);

/// The module in the machine's assembly language.
llvm::Expected<std::string> emitAssembly(llvm::Module &module, llvm::TargetMachine &machine);

/// An object file of the module.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> emitObject(llvm::Module &module,
                                                               llvm::TargetMachine &machine);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_HOST_PROCESSOR_H
