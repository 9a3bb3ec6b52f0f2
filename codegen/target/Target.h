//===- Target.h - Interface of code generation targets ----------------------------------------===//
//
// To add a target, implement this interface in a folder of its own and add one line to
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

/// Command-line flags that describe a target. A target may not support all of them.
struct TargetFlags {
  /// --target: `cpu`, or the name of another target with an optional argument after a colon.
  std::string target = "cpu";
  /// --emulate: run device code on the CPU and check every memory access.
  bool emulate = false;
  Precision precision = Precision::F32; // --precision
  /// Libraries that the program must not use: cudnn (--no-cudnn), onednn (--no-onednn).
  std::vector<std::string> without = {};
  /// The host processor of the program: `host` (the machine that compiles) or an LLVM CPU name, and
  /// additional LLVM target features.
  std::string cpu = "host", features;
  /// The number of threads that library calls are planned for.
  unsigned threads = 1;
  /// --static: the program needs only the kernel of the operating system.
  bool isStatic = false;
  /// --cost-model: the processor class or GPU of the cost model. If empty, this machine's rates, or
  /// those of the class of the target processor or of the GPU of the target architecture.
  std::string rates = {};
  /// --tune: whether the algorithms of large contractions are measured: `off`, `cached` or `full`.
  /// Empty: the target's default.
  std::string tune = {};
};

/// An LLVM module and its context.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// The form of printed kernels: the target's loops (MLIR), optimized LLVM IR, or assembly.
enum class KernelText { Loops, LLVM, Assembly };

/// Link dependencies of a program or library of a target, in addition to its own archive and to the
/// archive with its entry points.
struct LinkInputs {
  std::vector<std::string> archives;  ///< of the runtime, in link order
  std::vector<std::string> libraries; ///< system libraries, as for -l
  /// The architecture of the program if it differs from that of the machine, as in clang's triple.
  /// It is also the name of the folder of the archives.
  std::string architecture = {};
  bool isStatic = false;    ///< link all libraries statically, including that of C
  bool hasRanks = false;    ///< the program consists of several processes, which MPI connects
  bool readsImages = false; ///< the program contains the decoders of image files
};

/// Registers the dialects of the targets' attributes.
void registerTargetDialects(mlir::DialectRegistry &registry);

class Target {
public:
  using Object = std::unique_ptr<llvm::MemoryBuffer>;

  virtual ~Target() = default;

  /// Returns the target attribute for the flags. Fails if the target is unknown, or cannot generate
  /// code on this machine.
  static llvm::Expected<TargetAttrInterface> parse(mlir::MLIRContext &context,
                                                   const TargetFlags &flags);
  /// Creates the code generator of a target. `optLevel` is LLVM's, 0 to 3.
  static llvm::Expected<std::unique_ptr<Target>> create(TargetAttrInterface target,
                                                        unsigned optLevel = 3);
  /// Returns the target names for help texts.
  static const std::string &describeNames();
  /// Returns the processor names of --cpu, by architecture, as text.
  static std::string describeProcessors();

  /// Returns the target's name in the program's tables.
  virtual std::string getName() const = 0;
  /// Returns the archives and libraries that programs of the target need.
  virtual LinkInputs getLinkInputs() const = 0;

  /// Returns the kernels and calls of a program, and assigns plans to kernels without one. Fails
  /// with a diagnostic at a kernel whose plan belongs to another target.
  mlir::FailureOr<CodeSources> collectSources(mlir::ModuleOp placed) const;

  /// Compiles kernels, and calls that the target has code for, or loads them from the cache (if not
  /// null). Returns the objects that are linked into the program, in the order of the sources.
  /// Other outputs, such as device images, are stored for the tables. Diagnostics are emitted at
  /// the kernels.
  virtual mlir::FailureOr<std::vector<CompiledObject>> compile(const CodeSources &sources,
                                                               KernelCache *cache) = 0;
  /// Compiles the sources to optimized LLVM modules for this machine, if its kernels can run on it.
  virtual mlir::FailureOr<std::vector<OwnedModule>> generateModules(const CodeSources &sources) = 0;
  /// Returns a module with one operation in the target's loop form for each kernel.
  virtual mlir::OwningOpRef<mlir::ModuleOp> emitLoops(const CodeSources &sources) = 0;
  /// Prints the code of the sources.
  mlir::LogicalResult print(const CodeSources &sources, KernelText form, llvm::raw_ostream &os);

  /// Prints a table of each launch's processor resources, if they are known at compile time.
  virtual mlir::LogicalResult printResources(const CodeSources &sources, llvm::raw_ostream &os) {
    return mlir::success();
  }

  /// Return a pointer to the target's struct of a kernel (MtcKernel::code), or of the program
  /// (MtcProgram::target_data). Called after compilation, in the order of the kernels.
  virtual llvm::Constant *describeKernel(KernelFunctionOp kernel, ConstantBuilder &builder) = 0;
  virtual llvm::Constant *describeProgram(ConstantBuilder &builder) = 0;
  /// Returns a pointer to the target's struct of its own code for a call (MtcCall::code), or null
  /// if a library computes the call.
  virtual llvm::Constant *describeCallCode(CallAttrInterface call, ConstantBuilder &builder) {
    return builder.null();
  }
  /// Returns why programs of the target cannot copy between the memory spaces; empty if they can.
  virtual llvm::StringRef refuseCopy(MemorySpace source, MemorySpace destination) const;
  /// Returns whether programs of the target can repeat operations (MTC_REPEAT). Otherwise, their
  /// tables have the operations of all iterations.
  virtual bool hasRepeats() const { return false; }
  /// Compiles a module of host code to an object file.
  llvm::Expected<Object> compileHost(llvm::Module &module) const;
  const cpu::Processor &getHost() const { return host; }
  TargetAttrInterface getAttribute() const { return attribute; }

protected:
  /// Returns the LLVM IR or assembly of each source that the target has code for.
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
