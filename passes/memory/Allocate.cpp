//===- Allocate.cpp - Every value gets a slice of the arena -----------------------------------===//

#include "ir/OperandLayout.h"
#include "ir/VariableAccess.h"
#include "passes/Passes.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/MemoryPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mtc {
#define GEN_PASS_DEF_ALLOCATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Turns the functions of a module into steps, as planned.
class PlanWriter {
public:
  PlanWriter(ModuleOp module, const MemoryPlan &plan)
      : module(module), symbols(module), plan(plan), outliner(module) {}

  LogicalResult run() {
    writeArena();
    writeOffsets();
    for (const auto &function : plan.getFunctions())
      if (failed(emit(*function)))
        return failure();
    for (const auto &each : plan.getFunctions())
      func::FuncOp(each->function).erase();
    return success();
  }

private:
  using FunctionPlan = MemoryPlan::FunctionPlan;

  void writeArena() {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    Operation *peak = plan.getPeak();
    ArenaOp::create(builder, module.getLoc(), plan.getSize(), plan.getLiveBytes(),
                    plan.getDataBytes(), plan.getScratchBytesAtPeak(), plan.getStagingBytes(),
                    plan.getAsideSize() > plan.getSize() ? plan.getAsideSize() : 0,
                    peak ? LocationAttr(peak->getLoc()) : LocationAttr());
  }

  void writeOffsets() {
    auto write = [&](StringRef symbol, int64_t offset) {
      symbols.lookup<VariableOp>(symbol).setOffset(offset);
    };
    for (const auto &[symbol, offset] : plan.getVariables().offsets)
      write(symbol, offset);
    for (const auto &function : plan.getFunctions())
      for (auto [symbol, buffer] : function->buffers.transients())
        write(cast<FlatSymbolRefAttr>(symbol).getValue(), plan.offsetOf(*function, buffer));
  }

  AtAttr sliceOf(Value value) {
    return AtAttr::get(module.getContext(), plan.offsetOf(*current, value),
                       cast<RankedTensorType>(value.getType()));
  }

  SmallVector<AtAttr> slicesOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return sliceOf(value); });
  }

  ArrayAttr sliceArray(ValueRange values) {
    SmallVector<Attribute> slices;
    llvm::append_range(slices, slicesOf(values));
    return ArrayAttr::get(module.getContext(), slices);
  }

  LogicalResult emit(const FunctionPlan &functionPlan) {
    current = &functionPlan;
    func::FuncOp function = functionPlan.function;
    OpBuilder builder(function);
    SmallVector<Attribute> inputNames, outputNames;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputNames.push_back(builder.getStringAttr(ArgumentLayout::nameOf(function, i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      Attribute name = function.getResultAttr(i, nameAttribute);
      outputNames.push_back(name ? name : builder.getStringAttr("result" + Twine(i)));
    }
    Block &block = function.getBody().front();
    auto step = StepOp::create(builder, function.getLoc(), function.getSymName(),
                               sliceArray(block.getArguments()), builder.getArrayAttr(inputNames),
                               sliceArray(block.getTerminator()->getOperands()),
                               builder.getArrayAttr(outputNames));
    builder.setInsertionPointToStart(&step.getBody().emplaceBlock());
    for (Operation *op : functionPlan.schedule.getOrder())
      if (failed(emit(*op, builder)))
        return failure();
    return success();
  }

  LogicalResult emit(Operation &op, OpBuilder &builder) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      ArrayAttr inputs = sliceArray(kernel.getInputs());
      ArrayAttr outputs = sliceArray(kernel.getOutputs());
      KernelFunctionOp function = outliner.outline(kernel);
      auto [buffer, bytes] = current->buffers.scratchOf(&op);
      LaunchOp::create(builder, op.getLoc(), function.getSymName(), inputs, outputs,
                       bytes ? plan.offsetOf(*current, buffer) : 0, bytes);
      return success();
    }
    if (auto call = dyn_cast<LibraryCallOpInterface>(op)) {
      if (!takesOperandLayouts(call))
        return op.emitOpError("has operands that lie as its library does not take them; run "
                              "mtc-prepare-calls first");
      auto [buffer, bytes] = current->buffers.scratchOf(&op);
      if (bytes < 0)
        return op.emitOpError("computes ")
               << getElementTypeOrSelf(op.getResult(0))
               << ", which the target's library cannot do on this machine";
      std::optional<unsigned> accumulated = findAccumulated(&op);
      SmallVector<Value> operands = llvm::to_vector(op.getOperands());
      if (accumulated)
        operands.erase(operands.begin() + *accumulated);
      CallOp::create(builder, op.getLoc(), call.describeCall(accumulated), sliceArray(operands),
                     sliceArray(op.getResults()), bytes ? plan.offsetOf(*current, buffer) : 0,
                     bytes);
      return success();
    }
    SmallVector<FlatSymbolRefAttr> written = writtenVariables(&op);
    if (!written.empty()) {
      if (current->buffers.isComputedInPlace(&op))
        return success();
      Value value = op.getOperand(0);
      int64_t offset = *symbols.lookup<VariableOp>(written.front().getValue()).getOffset();
      auto destination =
          AtAttr::get(builder.getContext(), offset, cast<RankedTensorType>(value.getType()));
      CopyOp::create(builder, op.getLoc(), sliceOf(value), destination);
      return success();
    }
    return success(); // Views, reads and the end need no code.
  }

  /// The operand that the call's first result lies over, and is added to.
  std::optional<unsigned> findAccumulated(Operation *op) {
    auto call = dyn_cast<EpilogueOpInterface>(op);
    if (!call)
      return std::nullopt;
    int64_t offset = sliceOf(op->getResult(0)).getOffset();
    for (OpOperand &operand : op->getOpOperands())
      if (call.mayAccumulate(operand.getOperandNumber()) &&
          sliceOf(operand.get()).getOffset() == offset)
        return operand.getOperandNumber();
    return std::nullopt;
  }

  ModuleOp module;
  SymbolTable symbols;
  const MemoryPlan &plan;
  const FunctionPlan *current = nullptr;
  KernelOutliner outliner;
};

class AllocatePass : public mtc::impl::AllocateBase<AllocatePass> {
  void runOnOperation() override {
    FailureOr<MemoryPlan> plan = MemoryPlan::compute(getOperation());
    if (failed(plan) || failed(PlanWriter(getOperation(), *plan).run()))
      return signalPassFailure();
  }
};

} // namespace
