//===- ProgramOps.cpp - Module-level description of a training program ------------------------===//

#include "ir/Mtc.h"
#include "runtime/abi/schedule.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mtc;

LogicalResult ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   StringRef kind, FloatAttr, FloatAttr, int64_t warmup,
                                   int64_t decay, DenseI64ArrayAttr steps,
                                   DenseF64ArrayAttr rates) {
  const abi::Schedule *schedule = abi::findSchedule(kind.str().c_str());
  if (!schedule)
    return emitError() << "there is no schedule '" << kind << "' (schedule_c1)";
  if (warmup < 0 || decay < 0)
    return emitError() << "has a warm-up of " << warmup << " steps and a decay of " << decay
                       << " steps, expected 0 or more (schedule_c2)";
  ArrayRef<int64_t> points = steps ? steps.asArrayRef() : ArrayRef<int64_t>();
  ArrayRef<double> there = rates ? rates.asArrayRef() : ArrayRef<double>();
  if (points.empty() == schedule->hasPoints || points.size() != there.size() ||
      std::adjacent_find(points.begin(), points.end(), std::greater_equal<>()) != points.end())
    return emitError() << "'" << kind << "' has points at " << points.size()
                       << " steps, which must rise, and " << there.size() << " rates (schedule_c3)";
  return success();
}

LogicalResult LossScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      int64_t window, FloatAttr minimum) {
  if (window < 1 || !(minimum.getValueAsDouble() > 0.0))
    return emitError() << "has a window of " << window << " updates and a minimum scale of "
                       << minimum.getValueAsDouble()
                       << ", expected positive numbers (loss_scaling_c1)";
  return success();
}

LogicalResult AccumulationAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                       int64_t microSteps, int64_t targets) {
  if (microSteps < 2 || targets < 0)
    return emitError() << "has " << microSteps << " micro-steps and " << targets
                       << " targets, expected at least 2 and 0 (accumulation_c1)";
  return success();
}

LogicalResult RanksAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t count,
                                int64_t tensor, int64_t chunks, int64_t context,
                                int64_t contextChunks, Shard shard, StringRef, Reduce reduce,
                                int64_t pipeline) {
  if (count < 1)
    return emitError() << "has " << count << " ranks, expected at least 1 (ranks_c1)";
  const int64_t stages = std::max<int64_t>(pipeline, 1);
  if (tensor < 1 || context < 1 || pipeline < 0 || count % (tensor * context * stages))
    return emitError() << "has " << count << " ranks in " << stages << " stages of " << context
                       << " tensor groups of " << tensor << ", expected a multiple (ranks_c3)";
  if (chunks < 0 || chunks % tensor)
    return emitError() << "has " << chunks << " chunks in tensor groups of " << tensor
                       << ", expected a multiple (ranks_c4)";
  if (contextChunks < 0 || contextChunks % context)
    return emitError() << "has " << contextChunks << " chunks in context groups of " << context
                       << ", expected a multiple (ranks_c4)";
  if (reduce == Reduce::Last && shard != Shard::None && shard != Shard::Optimizer)
    return emitError() << "divides gradients that are added in the update (ranks_c2)";
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
  build(b, state, modelName, stage, SourceAttr(), /*batch=*/1, StringAttr(), RanksAttr(),
        AccumulationAttr(), StringAttr(), ScheduleAttr(), LossScalingAttr(), ArrayAttr(),
        /*pipelineStage=*/IntegerAttr());
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
    return emitOpError("is the second program of the module (program_c1)");
  if (static_cast<int64_t>(getBatch()) < 1)
    return emitOpError("has a batch of ")
           << getBatch() << " samples, expected at least 1 (program_c3)";
  if (getAccumulation() && getMicroSteps() % getDataGroup().count != 0)
    return emitOpError("has ") << getMicroSteps() << " micro-steps for " << getDataGroup().count
                               << " ranks, expected a multiple (program_c4)";
  if (ArrayAttr shapes = getShapesAttr();
      shapes && (shapes.size() < 2 ||
                 cast<ShapeAttr>(shapes[0]).getBatch() != static_cast<int64_t>(getBatch())))
    return emitOpError("has the shapes ")
           << shapes << ", expected at least two, the first with the batch " << getBatch()
           << " (program_c5)";
  for (Operation &op : getInputs().front()) {
    auto input = dyn_cast<InputOp>(op);
    if (!input)
      return op.emitOpError("is not an input of a program (program_c2)");
    if (findInput(input.getName()) != input)
      return input.emitOpError("has the name of another input (program_c2)");
  }
  return success();
}

LogicalResult ShapeAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t batch,
                                DictionaryAttr dims) {
  auto isSize = [](NamedAttribute dim) {
    auto size = dyn_cast<IntegerAttr>(dim.getValue());
    return size && size.getType().isInteger(64) && size.getInt() > 0;
  };
  if (batch < 1 || !llvm::all_of(dims, isSize))
    return emitError() << "has a batch of " << batch << " and the sizes " << dims
                       << ", expected positive numbers (shape_c1)";
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
    return emitOpError("is shifted from '")
           << *source << "', which is not another input (input_c1)";
  return success();
}
