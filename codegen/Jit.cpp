//===- Jit.cpp - In-process execution of allocated programs -----------------------------------===//

#include "codegen/Jit.h"

#include "codegen/host/Processor.h"
#include "codegen/program/ProgramTables.h"
#include "ir/Mtc.h"
#include "runtime/abi/library_call.h"

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <cstring>

using namespace mlir;
using namespace mtc;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> mtc::createJit(const cpu::Processor &processor) {
  // Also initializes LLVM's native target.
  auto machine = cpu::createTargetMachine(processor, 3);
  if (!machine)
    return machine.takeError();
  llvm::orc::JITTargetMachineBuilder builder((*machine)->getTargetTriple());
  builder.setCPU(processor.cpu);
  builder.addFeatures(llvm::SubtargetFeatures(processor.features).getFeatures());
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit)
    return jit.takeError();
  // Resolves functions of the C library.
  auto generator = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*generator));
  return jit;
}

/// Fills a variable with the single element in its table entry.
static void fillSplat(char *to, const MtcVariable &variable) {
  int64_t count = 1;
  for (uint32_t axis = 0; axis < variable.tensor.rank; ++axis)
    count *= variable.tensor.dims[axis];
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * (variable.tensor.bytes / count), variable.data,
                variable.tensor.bytes / count);
}

FailureOr<std::unique_ptr<JitProgram>> JitProgram::create(ModuleOp placed, Target &target) {
  FailureOr<JitCode> code = generateJitCode(placed, ProgramFiles(), target);
  if (failed(code))
    return failure();
  std::unique_ptr<JitProgram> result(new JitProgram());
  auto fail = [&](llvm::Error error) { return placed.emitError(llvm::toString(std::move(error))); };
  auto jit = createJit(target.getHost());
  if (!jit)
    return fail(jit.takeError());
  result->jit = std::move(*jit);
  for (OwnedModule &owned : code->modules)
    if (llvm::Error error = result->jit->addIRModule(
            llvm::orc::ThreadSafeModule(std::move(owned.module), std::move(owned.context))))
      return fail(std::move(error));
  if (llvm::Error error = result->jit->addObjectFile(std::move(code->operations)))
    return fail(std::move(error));

  auto lookUp = [&](const std::string &name) { return result->jit->lookup(name); };
  auto table = lookUp("mtc_program");
  if (!table)
    return fail(table.takeError());
  result->table = table->toPtr<const MtcProgram *>();
  for (StepOp op : placed.getOps<StepOp>()) {
    auto function = lookUp(stepSymbol(op.getSymName()));
    if (!function)
      return fail(function.takeError());
    Step step{{}, {}, *function->toPtr<const MtcFunction *>()};
    auto fill = [](ArrayAttr slices, SmallVectorImpl<Slice> &into) {
      for (auto at : slices.getAsRange<AtAttr>())
        into.push_back({at.getOffset(), byteSize(at.getType())});
    };
    fill(op.getInputs(), step.inputs);
    fill(op.getOutputs(), step.outputs);
    result->steps[op.getSymName()] = step;
  }

  const MtcProgram &program = *result->table;
  result->arenas[MTC_DEVICE] =
      AlignedBytes(std::max(program.arena_bytes, program.separate_arena_bytes));
  result->arenas[MTC_PINNED_HOST] = AlignedBytes(program.pinned_host_arena_bytes);
  result->arenas[MTC_HOST] = AlignedBytes(program.host_arena_bytes);
  result->arenas[MTC_DISK] = AlignedBytes(program.disk_arena_bytes);
  for (uint32_t i = 0; i < result->table->variable_count; ++i) {
    const MtcVariable &variable = result->table->variables[i];
    if (variable.initial == MTC_INITIAL_DATA)
      std::memcpy(result->arena(variable.tensor.space) + variable.tensor.offset, variable.data,
                  variable.tensor.bytes);
    else if (variable.initial == MTC_INITIAL_SPLAT)
      fillSplat(result->arena(variable.tensor.space) + variable.tensor.offset, variable);
  }
  return result;
}

llvm::Error JitProgram::run(StringRef name, ArrayRef<const void *> inputs,
                            ArrayRef<void *> outputs) {
  auto found = steps.find(name);
  if (found == steps.end())
    return makeError("the module has no step @" + name);
  Step &step = found->second;
  if (inputs.size() != step.inputs.size() || outputs.size() != step.outputs.size())
    return makeError("@" + name + " has " + Twine(step.inputs.size()) + " inputs and " +
                     Twine(step.outputs.size()) + " outputs, got " + Twine(inputs.size()) +
                     " and " + Twine(outputs.size()));
  for (auto [slice, input] : llvm::zip_equal(step.inputs, inputs))
    if (input)
      std::memcpy(arena() + slice.offset, input, slice.bytes);
  if (llvm::Error error = execute(step.function))
    return error;
  for (auto [slice, output] : llvm::zip_equal(step.outputs, outputs))
    if (output)
      std::memcpy(output, arena() + slice.offset, slice.bytes);
  return llvm::Error::success();
}

llvm::Error JitProgram::execute(const MtcFunction &function) {
  for (uint32_t i = 0; i < function.operation_count; ++i) {
    const MtcOperation &operation = function.operations[i];
    if (operation.kind != MTC_REPEAT) {
      if (llvm::Error error = execute(operation, /*iteration=*/0))
        return error;
      continue;
    }
    for (int64_t iteration = 0; iteration < operation.iterations; ++iteration)
      for (uint32_t k = 1; k <= operation.index; ++k)
        if (llvm::Error error = execute(function.operations[i + k], iteration))
          return error;
    i += operation.index;
  }
  return llvm::Error::success();
}

llvm::Error JitProgram::execute(const MtcOperation &operation, int64_t iteration) {
  SmallVector<int64_t> offsets;
  SmallVector<char *> operands;
  for (uint32_t k = 0; k < operation.operand_count; ++k) {
    offsets.push_back(operation.operands[k] +
                      (operation.strides ? iteration * operation.strides[k] : 0));
    operands.push_back(arena() + offsets.back());
  }
  switch (operation.kind) {
  case MTC_LAUNCH: {
    const MtcKernel &kernel = table->kernels[operation.index];
    MtcFault fault = {};
    for (const MtcCpuStage &stage : stagesOf(kernel))
      stage.function(operands.data(), 0, stage.extent, &fault);
    if (fault.raised)
      return makeError(Twine(kernel.name) + ": index " + Twine(fault.index) +
                       " is outside an axis of " + Twine(fault.extent));
    break;
  }
  case MTC_CALL:
    if (!mtc_call_run(&table->calls[operation.index], operands.data()))
      return makeError("this machine's libraries cannot run a call");
    break;
  case MTC_COPY: // Sequential execution is a valid order of the streams.
    std::memmove(arena(operation.destination_space) + offsets[1],
                 arena(operation.source_space) + offsets[0], operation.bytes);
    break;
  default:
    llvm_unreachable("an operation of a kind that the ABI lacks");
  }
  return llvm::Error::success();
}
