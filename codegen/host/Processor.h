//===- Processor.h - Processor description and code generation --------------------------------===//

#ifndef MTC_CODEGEN_HOST_PROCESSOR_H
#define MTC_CODEGEN_HOST_PROCESSOR_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::cpu {

/// A processor that programs are compiled for.
struct Processor {
  std::string name; ///< as in --cpu
  llvm::Triple triple;
  std::string cpu;      ///< LLVM CPU name
  std::string features; ///< LLVM target features (`+avx2,-avx512f`)

  bool isX86() const { return triple.isX86(); }
  /// Returns whether this is the architecture of the machine that compiles, so that the machine can
  /// run the code.
  bool isOfHost() const;
  /// Returns whether the processor has vector instructions that convert f32 to and from the type.
  bool hasBFloat16Conversion() const;
  bool hasFloat16Conversion() const;
  /// Returns whether the processor has 512-bit registers.
  bool hasAvx512() const;
  /// Returns whether the processor permutes the bytes of 512-bit registers.
  bool hasAvx512Vbmi() const;
  /// Returns whether the processor multiplies bf16 faster than f32.
  bool hasBFloat16Products() const;
  /// Returns the features that a program of this processor checks at startup: LLVM's names,
  /// separated by commas.
  std::string getFeatureNames() const;

private:
  bool has(llvm::StringRef feature) const;
};

/// Returns the processor of an LLVM CPU name. `host` is the machine that compiles, described by its
/// detected features, since its model is often unknown to LLVM; `aarch64` is any 64-bit Arm
/// processor. `extraFeatures` are appended to the feature list.
llvm::Expected<Processor> describeProcessor(llvm::StringRef cpu, llvm::StringRef extraFeatures);

/// Returns the model name of the machine's processor (/proc/cpuinfo), or LLVM's CPU name if there
/// is none.
std::string nameOfHost();

/// Names of processors of one architecture.
struct ProcessorNames {
  llvm::StringRef architecture;
  std::vector<std::string> names; ///< sorted
};
/// Returns the names that `describeProcessor` accepts in addition to `host`.
std::vector<ProcessorNames> listProcessors();

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
