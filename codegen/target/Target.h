//===- Target.h - What a program's kernels become ---------------------------------------------===//
//
// A new target is one folder with an implementation of this interface, and one line in
// codegen/Targets.cpp.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_CODEGEN_TARGET_TARGET_H
#define MTC_CODEGEN_TARGET_TARGET_H

#include "codegen/host/Processor.h"
#include "codegen/target/CodeSources.h"
#include "codegen/target/ConstantBuilder.h"
#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc {

class KernelCache;

/// An object file of the program.
struct CompiledObject {
  std::string name;
  std::unique_ptr<llvm::MemoryBuffer> content;
};

/// A target as flags name it. Not every target knows every flag.
struct TargetFlags {
  /// --target: `cpu`, or another target's name and what it knows after a colon.
  std::string target = "cpu";
  /// --emulate: device code runs on the CPU, with every access checked.
  bool emulate = false;
  Precision precision = Precision::F32; // `--precision`.
  /// Libraries that the program must not use, such as cudnn (--no-cudnn).
  std::vector<std::string> without = {};
  /// The processor of the host program: `host` (the machine that compiles) or a name that LLVM
  /// knows; features as LLVM writes them.
  std::string cpu = "host", features;
  /// That library calls are planned for.
  unsigned threads = 1;
  /// --cost-model: the class of processors that times are estimated of; "": this machine's, or that
  /// of the processor.
  std::string rates = {};
};

/// An LLVM module with the context that it lives in.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// How far the text of kernels goes: the target's own loops (MLIR), optimized LLVM IR, or assembly.
enum class KernelText { Loops, LLVM, Assembly };

/// What a program is linked with, beside its own archive.
struct LinkInputs {
  std::vector<std::string> archives;  ///< of the runtime, in their order
  std::vector<std::string> libraries; ///< of the system, as -l names them
};

/// The dialects that targets' attributes belong to.
void registerTargetDialects(mlir::DialectRegistry &registry);

class Target {
public:
  using Object = std::unique_ptr<llvm::MemoryBuffer>;

  virtual ~Target() = default;

  /// The attribute that says what flags say. Fails where they name no target, or one that cannot
  /// make code on this machine.
  static llvm::Expected<TargetAttrInterface> parse(mlir::MLIRContext &context,
                                                   const TargetFlags &flags);
  /// What makes code for a target. `optLevel` is LLVM's, 0 to 3.
  static llvm::Expected<std::unique_ptr<Target>> create(TargetAttrInterface target,
                                                        unsigned optLevel = 3);
  /// The names that `create` takes, for help texts.
  static const std::string &describeNames();

  /// As the program's tables name it.
  virtual std::string getName() const = 0;
  virtual LinkInputs getLinkInputs() const = 0;

  /// What code is generated for; kernels that have no plan get one. Fails with a diagnostic at a
  /// kernel whose plan is none of this target's.
  mlir::FailureOr<CodeSources> collectSources(mlir::ModuleOp placed) const;

  /// Compiles kernels, and the calls that the target has code for, out of the cache (if there is
  /// one) or anew. Gives the objects that become part of the program, in the sources' order; what
  /// else it makes it keeps for the tables. Diagnostics are at the kernels.
  virtual mlir::FailureOr<std::vector<CompiledObject>> compile(const CodeSources &sources,
                                                               KernelCache *cache) = 0;
  /// The same as optimized LLVM modules for this machine, where kernels can run on it.
  virtual mlir::FailureOr<std::vector<OwnedModule>> generateModules(const CodeSources &sources) = 0;
  mlir::LogicalResult print(const CodeSources &sources, KernelText form, llvm::raw_ostream &os);

  /// A table of what each launch takes of a processor, where that is known before it runs.
  virtual mlir::LogicalResult printResources(const CodeSources &sources, llvm::raw_ostream &os) {
    return mlir::success();
  }

  /// A pointer to the target's struct of a kernel (MtcKernel::code), or of the program
  /// (MtcProgram::target_data). Asked after the kernels were compiled, in their order.
  virtual llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) = 0;
  virtual llvm::Constant *describeProgram(ConstantBuilder &builder) = 0;
  /// A pointer to the target's struct of its own code for a call (MtcCall::code), null if a library
  /// computes it.
  virtual llvm::Constant *describeCallCode(CallAttrInterface call, ConstantBuilder &builder) {
    return builder.null();
  }
  /// Why programs of the target do not copy from a space to another; empty if they do.
  virtual llvm::StringRef refuseCopy(MemorySpace source, MemorySpace destination) const;
  /// An object of host code.
  llvm::Expected<Object> compileHost(llvm::Module &module) const;
  const cpu::Processor &getHost() const { return host; }
  TargetAttrInterface getAttribute() const { return attribute; }

protected:
  /// Kernels as the target's own loops: a module with an operation for each.
  virtual mlir::OwningOpRef<mlir::ModuleOp> emitLoops(const CodeSources &sources) = 0;
  /// The text of each source that the target has code for, as LLVM IR or assembly.
  virtual mlir::FailureOr<std::vector<std::string>> writeTexts(const CodeSources &sources,
                                                               KernelText form) = 0;

  Target(TargetAttrInterface attribute, cpu::Processor host, unsigned optLevel)
      : attribute(attribute), host(std::move(host)), optLevel(optLevel) {}

  TargetAttrInterface attribute;
  cpu::Processor host;
  unsigned optLevel;
};

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_TARGET_H
