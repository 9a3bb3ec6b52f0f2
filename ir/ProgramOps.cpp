//===- ProgramOps.cpp - What a module says of its program beside its functions ----------------===//

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mtc;

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, ScheduleKind,
                                   FloatAttr, int64_t warmup) {
  if (warmup < 0)
    return emitError() << "a warm-up of " << warmup << " steps (schedule_c1)";
  return success();
}

LogicalResult IndexRangeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                     int64_t minimum, int64_t limit, int64_t, StringRef) {
  if (minimum >= limit)
    return emitError() << "no value from " << minimum << " on is less than " << limit
                       << " (index_range_c1)";
  return success();
}

void ProgramOp::build(OpBuilder &b, OperationState &state, StringRef modelName, Stage stage) {
  build(b, state, modelName, stage, SourceAttr(), /*batch=*/1, StringAttr(), StringAttr(),
        ScheduleAttr());
  state.regions.front()->emplaceBlock();
}

ProgramOp ProgramOp::find(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto programs = module.getOps<ProgramOp>();
  return programs.empty() ? ProgramOp() : *programs.begin();
}

ProgramOp ProgramOp::findOrAdd(ModuleOp module) {
  if (ProgramOp program = find(module))
    return program;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  return ProgramOp::create(builder, module.getLoc(), "model", Stage::Forward);
}

InputOp ProgramOp::findInput(StringRef name) {
  for (auto input : getInputs().getOps<InputOp>())
    if (input.getName() == name)
      return input;
  return {};
}

InputOp ProgramOp::findOrAddInput(StringRef name) {
  if (InputOp input = findInput(name))
    return input;
  auto builder = OpBuilder::atBlockEnd(&getInputs().front());
  return InputOp::create(builder, getLoc(), name);
}

LogicalResult ProgramOp::verifyRegions() {
  if (find((*this)->getParentOp()) != *this)
    return emitOpError("is the module's second (program_c1)");
  if (static_cast<int64_t>(getBatch()) < 1)
    return emitOpError("takes ") << getBatch() << " rows a step, expected at least 1 (program_c3)";
  for (Operation &op : getInputs().front()) {
    auto input = dyn_cast<InputOp>(op);
    if (!input)
      return op.emitOpError("is no input of a program (program_c2)");
    if (findInput(input.getName()) != input)
      return input.emitOpError("has the name of another input (program_c2)");
  }
  return success();
}

void InputOp::build(OpBuilder &b, OperationState &state, StringRef name) {
  build(b, state, b.getStringAttr(name), StringAttr(), UnitAttr(), UnitAttr(), StringAttr(),
        IndexRangeAttr());
}

LogicalResult InputOp::verify() {
  std::optional<StringRef> source = getShiftedFrom();
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (source && (*source == getName() || !program.findInput(*source)))
    return emitOpError("is shifted from '") << *source << "', which is no other input (input_c1)";
  return success();
}
