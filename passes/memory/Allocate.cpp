//===- Allocate.cpp - Every value gets a slice of the arena -----------------------------------===//

#include "ir/OperandLayout.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/WindowWriter.h"

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
  PlanWriter(ModuleOp module, const MemoryAnalysis &analysis, const MemoryPlan &plan)
      : module(module), analysis(analysis), plan(plan), outliner(module),
        windows(TransferSlotsOp::find(module), analysis.getSlotsOffset(), outliner) {}

  LogicalResult run() {
    writeArena();
    writeOffsets();
    for (const FunctionMemory &function : analysis.getFunctions())
      if (failed(emit(function)))
        return failure();
    for (const FunctionMemory &function : analysis.getFunctions())
      function.getFunction().erase();
    if (TransferSlotsOp slots = TransferSlotsOp::find(module))
      slots.erase();
    return success();
  }

private:
  void writeArena() {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    ArenaOp::create(builder, module.getLoc(), plan.peak, plan.live, plan.categories.data,
                    plan.categories.workspace, plan.staging, plan.gradientsRun, plan.peakAt,
                    MemorySpace::Device);
    for (auto [space, bytes] : plan.otherSpaces)
      ArenaOp::create(builder, module.getLoc(), bytes, bytes, 0, 0, 0, 0, LocationAttr(), space);
  }

  void writeOffsets() {
    for (const VariableLayout::Entry &entry : analysis.getVariables().getEntries())
      if (entry.offset)
        VariableOp(entry.variable).setOffset(*entry.offset);
    for (const FunctionMemory &function : analysis.getFunctions())
      for (auto [symbol, buffer] : function.getBuffers().transients)
        VariableOp(analysis.getVariables()[cast<FlatSymbolRefAttr>(symbol)].variable)
            .setOffset(analysis.offsetOf(function, buffer));
  }

  AtAttr sliceOf(Value value) {
    return AtAttr::get(module.getContext(), analysis.offsetOf(*current, value),
                       cast<RankedTensorType>(value.getType()), (*current)[value].buffer->space);
  }

  SmallVector<AtAttr> slicesOf(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return sliceOf(value); });
  }

  ArrayAttr sliceArray(ValueRange values) {
    SmallVector<Attribute> slices;
    llvm::append_range(slices, slicesOf(values));
    return ArrayAttr::get(module.getContext(), slices);
  }

  LogicalResult emit(const FunctionMemory &memory) {
    current = &memory;
    func::FuncOp function = memory.getFunction();
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
    for (const PlannedOperation *op : memory.getOrder())
      if (failed(emit(*op, builder)))
        return failure();
    return success();
  }

  LogicalResult emit(const PlannedOperation &planned, OpBuilder &builder) {
    Operation *op = planned.op;
    int64_t scratch = planned.scratchBytes ? analysis.offsetOf(*current, planned.scratch) : 0;
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      SmallVector<AtAttr> slices = slicesOf(kernel.getInputs());
      llvm::append_range(slices, slicesOf(kernel.getOutputs()));
      if (llvm::any_of(slices, isElsewhere))
        return windows.write(kernel, slices, builder);
      ArrayAttr inputs = sliceArray(kernel.getInputs());
      ArrayAttr outputs = sliceArray(kernel.getOutputs());
      if (auto onto = dyn_cast_if_present<BlockArgument>(yieldOf(kernel).getOnto()))
        copyUnlessShared(kernel.getInputs()[onto.getArgNumber()], kernel.getOutputs().front(),
                         op->getLoc(), builder);
      KernelFunctionOp function = outliner.outline(kernel, planned.kernelPlan);
      LaunchOp::create(builder, op->getLoc(), function.getSymName(), inputs, outputs, scratch,
                       planned.scratchBytes, ValueRange());
      return success();
    }
    if (auto call = dyn_cast<LibraryCallOpInterface>(op)) {
      if (!takesOperandLayouts(call))
        return op->emitOpError("has operands that lie as its library does not take them; run "
                               "mtc-prepare-calls first");
      if (planned.scratchBytes < 0)
        return op->emitOpError("computes ")
               << getElementTypeOrSelf(op->getResult(0))
               << ", which the target's library cannot do on this machine";
      std::optional<unsigned> accumulated = findAccumulated(op);
      SmallVector<Value> operands = llvm::to_vector(op->getOperands());
      if (accumulated)
        operands.erase(operands.begin() + *accumulated);
      CallOp::create(builder, op->getLoc(), call.describeCall(accumulated), sliceArray(operands),
                     sliceArray(op->getResults()), scratch, planned.scratchBytes, ValueRange());
      return success();
    }
    if (auto move = dyn_cast<MoveOp>(op)) {
      CopyOp::create(builder, op->getLoc(), sliceOf(move.getValue()), sliceOf(move.getResult()),
                     ValueRange());
      return success();
    }
    if (!planned.written.empty() && !planned.isComputedInPlace) {
      Value value = op->getOperand(0);
      VariableOp variable = analysis.getVariables()[planned.written.front()].variable;
      auto destination = AtAttr::get(builder.getContext(), *variable.getOffset(),
                                     cast<RankedTensorType>(value.getType()), variable.getSpace());
      CopyOp::create(builder, op->getLoc(), sliceOf(value), destination, ValueRange());
    }
    return success(); // Views, reads, holds and the end need no code.
  }

  /// What a result starts as lies where the result does.
  void copyUnlessShared(Value base, Value result, Location loc, OpBuilder &builder) {
    if (AtAttr from = sliceOf(base), to = sliceOf(result); from != to)
      CopyOp::create(builder, loc, from, to, ValueRange());
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
  const MemoryAnalysis &analysis;
  const MemoryPlan &plan;
  const FunctionMemory *current = nullptr;
  KernelOutliner outliner;
  WindowWriter windows;
};

class AllocatePass : public mtc::impl::AllocateBase<AllocatePass> {
  void runOnOperation() override {
    MemoryAnalysis analysis(getOperation());
    FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
    if (failed(plan) || failed(PlanWriter(getOperation(), analysis, *plan).run()))
      return signalPassFailure();
  }
};

} // namespace
