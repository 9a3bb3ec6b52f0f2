//===- Codegen.cpp - Code generation for allocated programs -----------------------------------===//

#include "codegen/Codegen.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/program/ProgramTables.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace mlir;
using namespace mtc;

void mtc::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect,
                  MtcDialect>();
  registerTargetDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  cuda::registerDeviceDialects(registry);
}

FailureOr<std::vector<OwnedModule>> mtc::generateModules(ModuleOp placed, const ProgramFiles &files,
                                                         Target &target) {
  FailureOr<CodeSources> sources = target.collectSources(placed);
  if (failed(sources))
    return failure();
  FailureOr<std::vector<OwnedModule>> result = target.generateModules(*sources);
  if (failed(result))
    return failure();
  OwnedModule tables{std::make_unique<llvm::LLVMContext>(), nullptr};
  FailureOr<std::unique_ptr<llvm::Module>> module =
      emitProgramTables(placed, files, *tables.context, target, /*namedSteps=*/true);
  if (failed(module))
    return failure();
  tables.module = std::move(*module);
  result->push_back(std::move(tables));
  return result;
}

FailureOr<Target::Object> mtc::generateCode(ModuleOp placed, const ProgramFiles &files,
                                            Target &target, KernelCache *cache,
                                            std::function<void(size_t, size_t)> notify) {
  FailureOr<CodeSources> sources = target.collectSources(placed);
  if (failed(sources))
    return failure();
  sources->notify = std::move(notify);
  FailureOr<std::vector<CompiledObject>> objects = target.compile(*sources, cache);
  if (failed(objects))
    return failure();
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> tables =
      emitProgramTables(placed, files, context, target);
  if (failed(tables))
    return failure();
  llvm::Expected<Target::Object> program = target.compileHost(**tables);
  if (!program)
    return placed.emitError(llvm::toString(program.takeError()));

  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef((*program)->getBuffer(), "program.o"));
  for (const CompiledObject &object : *objects)
    members.emplace_back(llvm::MemoryBufferRef(object.content->getBuffer(), object.name));
  llvm::Expected<Target::Object> archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return placed.emitError(llvm::toString(archive.takeError()));
  return std::move(*archive);
}
