//===- Codegen.cpp - Code generation for allocated programs -----------------------------------===//

#include "codegen/Codegen.h"

#include "codegen/cuda/DeviceCode.h"
#include "codegen/program/ProgramTables.h"
#include "codegen/program/StageTables.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
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

namespace {

/// The modules of a program's pipeline stages, which are aligned, or its only module.
struct ProgramStages {
  explicit ProgramStages(ModuleOp placed) {
    if (placed.getOps<ModuleOp>().empty()) {
      modules.push_back(placed);
      return;
    }
    aligned = placed.clone(); // The caller's modules do not change.
    llvm::append_range(modules, aligned->getOps<ModuleOp>());
    alignStages(modules);
  }

  OwningOpRef<ModuleOp> aligned;
  SmallVector<ModuleOp> modules;
};

} // namespace

/// Returns the kernels and calls of all pipeline stages, which have been aligned.
static FailureOr<CodeSources> collectSources(ArrayRef<ModuleOp> stages, Target &target) {
  CodeSources all{target.getAttribute().getContext(), {}, {}};
  llvm::SetVector<CallAttrInterface> calls;
  llvm::DenseSet<StringAttr> names;
  for (ModuleOp stage : stages) {
    FailureOr<CodeSources> own = target.collectSources(stage);
    if (failed(own))
      return failure();
    for (KernelFunctionOp kernel : own->kernels)
      if (names.insert(kernel.getSymNameAttr()).second)
        all.kernels.push_back(kernel);
    calls.insert(own->calls.begin(), own->calls.end());
  }
  all.calls = calls.takeVector();
  return all;
}

FailureOr<JitCode> mtc::generateJitCode(ModuleOp placed, const ProgramFiles &files,
                                        Target &target) {
  const ProgramStages stages(placed);
  FailureOr<CodeSources> sources = collectSources(stages.modules, target);
  if (failed(sources))
    return failure();
  FailureOr<std::vector<OwnedModule>> modules = target.generateModules(*sources);
  if (failed(modules))
    return failure();
  auto context = std::make_unique<llvm::LLVMContext>();
  FailureOr<ProgramTables> tables =
      emitProgramTables(stages.modules, files, *context, target, /*namedSteps=*/true);
  if (failed(tables))
    return failure();
  modules->push_back({std::move(context), std::move(tables->module)});
  return JitCode{std::move(*modules), std::move(tables->operations)};
}

FailureOr<Target::Object> mtc::generateCode(ModuleOp placed, const ProgramFiles &files,
                                            Target &target, KernelCache *cache,
                                            std::function<void(size_t, size_t)> notify) {
  const ProgramStages stages(placed);
  FailureOr<CodeSources> sources = collectSources(stages.modules, target);
  if (failed(sources))
    return failure();
  sources->notify = std::move(notify);
  FailureOr<std::vector<CompiledObject>> objects = target.compile(*sources, cache);
  if (failed(objects))
    return failure();
  llvm::LLVMContext context;
  FailureOr<ProgramTables> tables = emitProgramTables(stages.modules, files, context, target);
  if (failed(tables))
    return failure();
  llvm::Expected<Target::Object> program = target.compileHost(*tables->module);
  if (!program)
    return placed.emitError(llvm::toString(program.takeError()));

  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef((*program)->getBuffer(), "program.o"));
  members.emplace_back(llvm::MemoryBufferRef(tables->operations->getBuffer(), "operations.o"));
  for (const CompiledObject &object : *objects)
    members.emplace_back(llvm::MemoryBufferRef(object.content->getBuffer(), object.name));
  llvm::Expected<Target::Object> archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return placed.emitError(llvm::toString(archive.takeError()));
  return std::move(*archive);
}
