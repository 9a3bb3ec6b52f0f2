//===- Codegen.h - Code for a placed program --------------------------------------------------===//

#ifndef MTC_CODEGEN_CODEGEN_H
#define MTC_CODEGEN_CODEGEN_H

#include "codegen/program/ProgramInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc {

class KernelCache;

struct CodegenOptions {
  /// `host` (the machine that compiles) or a name that LLVM knows; features as LLVM writes them.
  std::string cpu = "host", features;
  unsigned optLevel = 3;
  /// Where compiled kernels are kept between runs, if anywhere.
  KernelCache *cache = nullptr;
};

/// An LLVM module with the context that it lives in.
struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// The dialects that code generation goes through, and their translation to LLVM IR. Every context
/// that generates code needs them.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles a placed program: an archive of objects, one with the constant `mtc_program` and one
/// for each kernel, in their order and with their names. It does not depend on the number of
/// threads. Diagnostics are at the operations that cannot be compiled.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
generateCode(mlir::ModuleOp placed, const ProgramInfo &info, const CodegenOptions &options);

/// The same before object code, for the JIT: optimised LLVM modules, kernels first, the tables
/// last, with a global for each step (`stepSymbol`).
mlir::FailureOr<std::vector<OwnedModule>>
generateModules(mlir::ModuleOp placed, const ProgramInfo &info, const CodegenOptions &options);

/// How far `emitKernelsText` goes.
enum class KernelsStage { Loops, LLVM };

/// The kernels as text, for `--emit`: loops over vectors (MLIR), or optimised LLVM IR.
mlir::LogicalResult emitKernelsText(mlir::ModuleOp placed, KernelsStage stage,
                                    const CodegenOptions &options, llvm::raw_ostream &os);

} // namespace mtc

#endif // MTC_CODEGEN_CODEGEN_H
