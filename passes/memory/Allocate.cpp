//===- Allocate.cpp - Arena allocation and lowering of functions to steps ---------------------===//

#include "ir/ScanBody.h"
#include "ir/attributes/OperandLayout.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/steps/StepAccess.h"
#include "passes/Passes.h"
#include "passes/kernels/KernelEditing.h"
#include "passes/memory/AllocateOptions.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/LastUses.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/memory/WindowWriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mtc {
#define GEN_PASS_DEF_ALLOCATE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Counts the operations of a block that only grows. MLIR's blocks do not store their length.
class BlockLength {
public:
  explicit BlockLength(Block &block) : block(block) {}

  int64_t get() {
    for (; !block.empty() && last != &block.back(); ++count)
      last = last ? last->getNextNode() : &block.front();
    return count;
  }

private:
  Block &block;
  Operation *last = nullptr; ///< the last counted operation
  int64_t count = 0;
};

/// Lowers the functions of a module to steps according to a memory plan.
class PlanWriter {
public:
  PlanWriter(ModuleOp module, const MemoryAnalysis &analysis, const MemoryPlan &plan,
             int64_t redzone)
      : module(module), analysis(analysis), plan(plan), redzone(redzone), outliner(module),
        windows(windowsIn(MemorySpace::Device)), hostWindows(windowsIn(MemorySpace::PinnedHost)) {}

  LogicalResult run() {
    writeArena();
    writeOffsets();
    for (const FunctionMemory &function : analysis.getFunctions())
      if (failed(emit(function)))
        return failure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    for (auto slots : llvm::make_early_inc_range(module.getOps<TransferSlotsOp>()))
      slots.erase();
    return success();
  }

private:
  WindowWriter windowsIn(MemorySpace space) {
    return {space, TransferSlotsOp::find(module, space), analysis.getSlotsOffset(space), outliner};
  }

  void writeArena() {
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    ArenaOp::create(builder, module.getLoc(), plan.peak, plan.live, plan.categories.data,
                    plan.categories.workspace, plan.staging, plan.separateRun, plan.outputsRun,
                    plan.peakAt, MemorySpace::Device, plan.floor, redzone);
    for (auto [space, bytes] : plan.otherSpaces)
      ArenaOp::create(builder, module.getLoc(), bytes, bytes, 0, 0, 0, 0, 0, LocationAttr(), space,
                      0, 0);
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

  /// A scan whose body is emitted.
  struct Frame {
    /// Returns the slice of an iteration in a value of the scan, see Buffer::outer.
    AtAttr slice(unsigned number, int64_t offset, RankedTensorType type) const {
      AtAttr value = values[number];
      if (!isStacked[number])
        return AtAttr::get(type.getContext(), value.getOffset() + offset, type);
      const int64_t sliceBytes = byteSize(ScanOp::sliceType(value.getType()));
      const int64_t first = isReversed ? (iterations - 1) * sliceBytes : 0;
      return AtAttr::get(type.getContext(), value.getOffset() + first + offset, type,
                         MemorySpace::Device, isReversed ? -sliceBytes : sliceBytes);
    }

    SmallVector<AtAttr> values; ///< slices of the scan's operands and results
    SmallVector<bool> isStacked;
    int64_t iterations, scratch;
    bool isReversed;
  };

  int64_t offsetOf(Buffer buffer) const {
    const int64_t offset = analysis.offsetOf(*current, buffer);
    return frame && !buffer.fixedOffset ? frame->scratch + offset : offset;
  }

  AtAttr sliceOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Buffer buffer = *(*current)[value].buffer;
    if (buffer.outer)
      return frame->slice(*buffer.outer, offsetInBuffer(value), type);
    return AtAttr::get(module.getContext(), offsetOf(buffer) + offsetInBuffer(value), type,
                       buffer.space);
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
    Block &body = step.getBody().emplaceBlock();
    builder.setInsertionPointToStart(&body);
    timesOfWindows.clear();
    for (const PlannedOperation *op : memory.getOrder())
      if (op->runsInWindows() && !op->isOnHost())
        timesOfWindows.push_back(op->time);
    // Number of step operations emitted after each operation of the schedule.
    SmallVector<int64_t, 0> counts;
    BlockLength length(body);
    for (const PlannedOperation *op : memory.getOrder()) {
      if (failed(emit(*op, length, builder)))
        return failure();
      counts.push_back(length.get());
    }
    writeLastUses(body, counts, /*first=*/0);
    return success();
  }

  /// Emits a scan: copies of the initial states, and a repeat of the body.
  LogicalResult emitScan(ScanOp scan, const PlannedOperation &planned, int64_t scratch,
                         OpBuilder &builder) {
    if (frame)
      return scan.emitOpError("is in the body of a scan");
    for (auto [initial, final] : llvm::zip(scan.getStates(), scan.getFinals()))
      copyUnlessShared(initial, final, scan.getLoc(), builder);
    const size_t states = scan.getStates().size();
    SmallVector<Attribute> reads;
    auto addRead = [&](AtAttr slice) {
      if (!llvm::is_contained(reads, slice))
        reads.push_back(slice);
    };
    for (AtAttr slice : slicesOf(scan.getFinals()))
      addRead(slice);
    for (AtAttr slice : slicesOf(scan->getOperands().drop_front(states)))
      addRead(slice);
    auto repeat =
        RepeatOp::create(builder, scan.getLoc(), scan.getIterations(), builder.getArrayAttr(reads),
                         sliceArray(scan->getResults()), scratch, planned.scratchBytes,
                         ValueRange(), DenseI64ArrayAttr());
    Frame own{slicesOf(scan->getOperands()),
              {},
              static_cast<int64_t>(scan.getIterations()),
              scratch,
              scan.getReversed()};
    llvm::append_range(own.values, slicesOf(scan->getResults()));
    for (size_t i = 0; i < own.values.size(); ++i)
      own.isStacked.push_back((i >= states && i < states + scan.getInputs().size()) ||
                              i >= scan->getNumOperands() + states);
    llvm::SaveAndRestore<const FunctionMemory *> outer(current, &analysis.getBody(scan));
    llvm::SaveAndRestore<const Frame *> nested(frame, &own);
    return emitBody(repeat.getBody().emplaceBlock());
  }

  /// Emits the operations of an iteration, with copies of slices that are not aligned.
  LogicalResult emitBody(Block &block) {
    func::FuncOp function = current->getFunction();
    const ScanBody body = *ScanBody::of(function);
    Operation *terminator = function.front().getTerminator();
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    const unsigned count = function.getNumArguments();
    SmallVector<CopyOp> leading; // Copies to temporaries.
    SmallVector<int64_t> uses;
    for (BlockArgument argument : function.getArguments())
      if (const PlannedValue &planned = (*current)[argument]; !planned.buffer->outer) {
        leading.push_back(CopyOp::create(
            builder, argument.getLoc(),
            frame->slice(argument.getArgNumber(), 0, cast<RankedTensorType>(argument.getType())),
            sliceOf(argument), ValueRange(), DenseI64ArrayAttr()));
        uses.push_back(planned.lastUse);
      }
    auto copyResult = [&](unsigned number, AtAttr source) {
      AtAttr to = frame->slice(count + number, 0, source.getType());
      if (source != to)
        CopyOp::create(builder, terminator->getLoc(), source, to, ValueRange(),
                       builder.getDenseI64ArrayAttr(-1));
    };
    auto isArgument = [&](Value value) { return isa<BlockArgument>(rootOf(value)); };
    // Outputs that are old states are copied before the states change.
    auto results = terminator->getOperands();
    for (auto [i, result] : llvm::enumerate(results))
      if (static_cast<int64_t>(i) >= body.states && isArgument(result))
        copyResult(i, sliceOf(result));
    BlockLength length(block);
    const int64_t first = length.get();
    SmallVector<int64_t, 0> counts;
    for (const PlannedOperation *op : current->getOrder()) {
      if (failed(emit(*op, length, builder)))
        return failure();
      counts.push_back(length.get());
    }
    for (auto [i, result] : llvm::enumerate(results))
      if (static_cast<int64_t>(i) >= body.states && !isArgument(result))
        copyResult(i, sliceOf(result));
    for (auto [i, result] : llvm::enumerate(results.take_front(body.states)))
      copyResult(i, sliceOf(result));
    counts.back() = length.get();
    const auto end = static_cast<int64_t>(counts.size()) - 1;
    for (auto [copy, use] : llvm::zip(leading, uses))
      setLastUses(copy, use == end ? counts.back() : std::max(counts[use], first) - 1);
    writeLastUses(block, counts, first);
    return success();
  }

  /// Returns the ranges of the arena that are free from the kernel that runs in windows before an
  /// operation until the one after it: copies of the windows overlap with the operations between.
  SmallVector<FreeRange> freeAround(const PlannedOperation &op) const {
    if (frame)
      return {};
    auto own = llvm::lower_bound(timesOfWindows, op.time);
    const int64_t begin = own == timesOfWindows.begin() ? 0 : *std::prev(own) + 1;
    const auto last = static_cast<int64_t>(current->getOrder().size()) - 1;
    const int64_t end = std::next(own) == timesOfWindows.end() ? last : *std::next(own);
    return analysis.findFree(*current, begin, end);
  }

  void writeLastUses(Block &body, ArrayRef<int64_t> counts, int64_t first) {
    auto slice = [this](Value value) { return sliceOf(value); };
    LastUses(*current, analysis.getVariables(), slice).write(body, counts, first);
  }

  LogicalResult emit(const PlannedOperation &planned, BlockLength &length, OpBuilder &builder) {
    Operation *op = planned.op;
    int64_t scratch = planned.scratchBytes ? offsetOf(planned.scratch) : 0;
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      SmallVector<AtAttr> slices = slicesOf(kernel.getInputs());
      llvm::append_range(slices, slicesOf(kernel.getOutputs()));
      WindowWriter &own = kernel.getOnHost() ? hostWindows : windows;
      if (llvm::any_of(slices, [&](AtAttr slice) { return own.isElsewhere(slice); })) {
        if (!kernel.getOnHost())
          windows.setFree(freeAround(planned));
        return own.write(kernel, slices, length.get(), builder);
      }
      ArrayAttr inputs = sliceArray(kernel.getInputs());
      ArrayAttr outputs = sliceArray(kernel.getOutputs());
      if (auto onto = dyn_cast_if_present<BlockArgument>(yieldOf(kernel).getOnto()))
        copyUnlessShared(kernel.getInputs()[onto.getArgNumber()], kernel.getOutputs().front(),
                         op->getLoc(), builder);
      KernelFunctionOp function = outliner.outline(kernel, planned.kernelPlan);
      LaunchOp::create(builder, op->getLoc(), function.getSymName(), inputs, outputs, scratch,
                       planned.scratchBytes, ValueRange(), DenseI64ArrayAttr());
      return success();
    }
    if (auto scan = dyn_cast<ScanOp>(op))
      return emitScan(scan, planned, scratch, builder);
    if (auto call = dyn_cast<LibraryCallOpInterface>(op)) {
      if (!takesOperandLayouts(call))
        return op->emitOpError(
            "has operand layouts that its library does not support; run mtc-prepare-calls first");
      if (planned.scratchBytes < 0)
        return op->emitOpError("computes ")
               << getElementTypeOrSelf(op->getResult(0))
               << ", which the target's library does not support on this machine";
      std::optional<unsigned> accumulated = findAccumulated(op);
      SmallVector<Value> operands = llvm::to_vector(op->getOperands());
      if (accumulated)
        operands.erase(operands.begin() + *accumulated);
      CallOp::create(builder, op->getLoc(), describeChosenCall(call, accumulated),
                     sliceArray(operands), sliceArray(op->getResults()), scratch,
                     planned.scratchBytes, ValueRange(), DenseI64ArrayAttr());
      return success();
    }
    if (auto assemble = dyn_cast<AssembleOp>(op)) {
      for (auto [number, tile] : llvm::enumerate(assemble.getTiles())) {
        const int64_t offset =
            sliceOf(assemble.getResult()).getOffset() + assemble.getOffsetInBytes(number);
        auto place = AtAttr::get(builder.getContext(), offset, typeOf(tile));
        if (sliceOf(tile) != place)
          CopyOp::create(builder, op->getLoc(), sliceOf(tile), place, ValueRange(),
                         DenseI64ArrayAttr());
      }
      return success();
    }
    if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      TransferOp::create(builder, op->getLoc(), collective.getCollective(),
                         sliceArray(op->getOperands()), sliceArray(op->getResults()), ValueRange(),
                         DenseI64ArrayAttr());
      return success();
    }
    if (auto move = dyn_cast<MoveOp>(op)) {
      CopyOp::create(builder, op->getLoc(), sliceOf(move.getValue()), sliceOf(move.getResult()),
                     ValueRange(), DenseI64ArrayAttr());
      return success();
    }
    if (!planned.written.empty() && !planned.isComputedInPlace) {
      Value value = op->getOperand(0);
      VariableOp variable = analysis.getVariables()[planned.written.front()].variable;
      auto destination = AtAttr::get(builder.getContext(), *variable.getOffset(),
                                     cast<RankedTensorType>(value.getType()), variable.getSpace());
      CopyOp::create(builder, op->getLoc(), sliceOf(value), destination, ValueRange(),
                     DenseI64ArrayAttr());
    }
    return success(); // Views, reads, holds and the terminator emit no code.
  }

  /// Copies the initial value `base` of a result to the result's slice unless they share one.
  void copyUnlessShared(Value base, Value result, Location loc, OpBuilder &builder) {
    if (AtAttr from = sliceOf(base), to = sliceOf(result); from != to)
      CopyOp::create(builder, loc, from, to, ValueRange(), DenseI64ArrayAttr());
  }

  /// Returns the operand whose slice the call's first result shares and accumulates into.
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
  const int64_t redzone;
  const FunctionMemory *current = nullptr;
  const Frame *frame = nullptr;           ///< of the scan whose body is emitted
  SmallVector<int64_t, 0> timesOfWindows; ///< of device kernels in windows of the emitted function
  KernelOutliner outliner;
  WindowWriter windows, hostWindows; ///< of kernels on the device, and on the host
};

/// Gives each scan a body of its own, because kernels are moved out of the bodies.
void separateBodies(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> taken;
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    for (auto scan : function.front().getOps<ScanOp>()) {
      func::FuncOp body = scan.lookUpBody();
      if (taken.insert(body).second)
        continue;
      auto copy = cast<func::FuncOp>(body->clone());
      symbols.insert(copy, std::next(body->getIterator()));
      scan.setBody(copy.getSymName());
    }
}

struct AllocatePass : PassWithOptions<mtc::impl::AllocateBase<AllocatePass>, AllocateOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<AllocateOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    const int64_t redzone = options->checkMemory ? redzoneBytes : 0;
    separateBodies(getOperation());
    MemoryAnalysis analysis(getOperation(), redzone);
    FailureOr<MemoryPlan> plan = analysis.getPlanWithLayout();
    if (failed(plan) || failed(PlanWriter(getOperation(), analysis, *plan, redzone).run()))
      return signalPassFailure();
  }

private:
  /// Exceeds the number of bytes by which vector accesses of any target extend beyond a value.
  static constexpr int64_t redzoneBytes = 256;
};

} // namespace

std::unique_ptr<Pass> mtc::createAllocate(const AllocateOptions &options) {
  return std::make_unique<AllocatePass>(options);
}
