//===- Place.cpp - Every value gets a place in the arena --------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/BufferAssignment.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/VariableLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mtc {
#define GEN_PASS_DEF_PLACE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A smaller batch is read from the page cache before a thread to read it wakes.
constexpr int64_t leastStagedBytes = 64 << 10;

/// Turns the functions of a module, one after another, into steps.
class Placer {
public:
  explicit Placer(ModuleOp module)
      : module(module), symbols(module), target(TargetInfo::of(module)), outliner(module) {}

  LogicalResult run() {
    FailureOr<int64_t> variableBytes = layOutVariables(module);
    if (failed(variableBytes))
      return failure();
    int64_t fixed = placeArguments(*variableBytes);
    // The same once more, for the next batch to be read into.
    int64_t staging = fixed - *variableBytes >= leastStagedBytes ? fixed - *variableBytes : 0;
    fixed += staging;
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    SmallVector<BufferAssignment, 0> assignments;
    int64_t time = 0;
    for (func::FuncOp function : functions) {
      if (failed(sinkWrites(function)))
        return failure();
      assignments.emplace_back(function, symbols, argumentOffsets, target,
                               regionOf(function).temporaries, time);
      time = assignments.back().endTime() + 1;
    }
    for (Region *region : {&common, &aside})
      region->layout = layOut(region->temporaries);
    base = fixed;
    OpBuilder builder(module.getContext());
    builder.setInsertionPointToStart(module.getBody());
    auto arena = ArenaOp::create(builder, module.getLoc(), fixed + common.layout.size,
                                 fixed + common.layout.liveBytes);
    if (aside.layout.size > common.layout.size)
      arena->setAttr("aside", builder.getI64IntegerAttr(fixed + aside.layout.size));
    for (auto [function, assignment] : llvm::zip_equal(functions, assignments)) {
      current = &regionOf(function);
      for (auto [symbol, buffer] : assignment.transients())
        symbols.lookup<VariableOp>(cast<FlatSymbolRefAttr>(symbol).getValue())
            .setOffset(offsetOf(buffer));
      if (current == &common)
        notePeak(function, assignment, arena);
      if (failed(emit(function, assignment)))
        return failure();
      function.erase();
    }
    int64_t scratchBytes = 0;
    for (int64_t bytes : scratchAtPeak)
      scratchBytes += bytes;
    if (staging)
      arena->setAttr("staging", builder.getI64IntegerAttr(staging));
    arena->setAttr("data_bytes", builder.getI64IntegerAttr(fixed - *variableBytes));
    arena->setAttr("workspace_bytes", builder.getI64IntegerAttr(scratchBytes));
    return success();
  }

private:
  /// What functions keep beside variables and arguments. A function that writes transient variables
  /// has an arena of its own size, so that what only it keeps is not part of the others'.
  struct Region {
    SmallVector<LiveBuffer> temporaries;
    ArenaLayout layout;
  };

  Region &regionOf(func::FuncOp function) {
    for (Operation &op : function.front())
      for (FlatSymbolRefAttr symbol : writtenVariables(&op))
        if (symbols.lookup(symbol.getValue())->hasAttr(transientAttribute))
          return aside;
    return common;
  }

  /// Arguments of the same name are one input of the program: they share a place.
  int64_t placeArguments(int64_t offset) {
    for (auto function : module.getOps<func::FuncOp>())
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
        auto name = function.getArgAttrOfType<StringAttr>(i, "mtc.name");
        if (!name) {
          name =
              StringAttr::get(module.getContext(), function.getSymName() + ".argument" + Twine(i));
          function.setArgAttr(i, "mtc.name", name);
        }
        if (argumentOffsets.try_emplace(name, offset).second)
          offset += paddedBytes(byteSize(cast<RankedTensorType>(type)));
      }
    return offset;
  }

  int64_t offsetOf(Buffer buffer) {
    return buffer.fixedOffset ? *buffer.fixedOffset
                              : base + current->layout.offsets[buffer.temporary];
  }

  AtAttr placeOf(Value value, BufferAssignment &assignment) {
    return AtAttr::get(module.getContext(),
                       offsetOf(assignment.bufferOf(value)) + assignment.offsetInBuffer(value),
                       cast<RankedTensorType>(value.getType()));
  }

  SmallVector<AtAttr> placesOf(ValueRange values, BufferAssignment &assignment) {
    return llvm::map_to_vector(values, [&](Value value) { return placeOf(value, assignment); });
  }

  ArrayAttr placeArray(ValueRange values, BufferAssignment &assignment) {
    SmallVector<Attribute> places;
    llvm::append_range(places, placesOf(values, assignment));
    return ArrayAttr::get(module.getContext(), places);
  }

  /// Says on the arena which operation runs when most is alive, and keeps the scratch of that
  /// moment.
  void notePeak(func::FuncOp function, BufferAssignment &assignment, ArenaOp arena) {
    for (Operation &op : function.getBody().front()) {
      if (assignment.timeOf(&op) != common.layout.peakTime)
        continue;
      arena->setAttr("peak_at", op.getLoc());
      scratchAtPeak.push_back(paddedBytes(std::max<int64_t>(assignment.scratchOf(&op).second, 0)));
    }
  }

  LogicalResult emit(func::FuncOp function, BufferAssignment &assignment) {
    OpBuilder builder(function);
    SmallVector<Attribute> inputNames, outputNames;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputNames.push_back(function.getArgAttr(i, "mtc.name"));
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      Attribute name = function.getResultAttr(i, "mtc.name");
      outputNames.push_back(name ? name : builder.getStringAttr("result" + Twine(i)));
    }
    Block &block = function.getBody().front();
    auto step = StepOp::create(builder, function.getLoc(), function.getSymName(),
                               placeArray(block.getArguments(), assignment),
                               builder.getArrayAttr(inputNames),
                               placeArray(block.getTerminator()->getOperands(), assignment),
                               builder.getArrayAttr(outputNames));
    builder.setInsertionPointToStart(&step.getBody().emplaceBlock());
    for (Operation &op : block)
      if (failed(emit(op, builder, assignment)))
        return failure();
    return success();
  }

  LogicalResult emit(Operation &op, OpBuilder &builder, BufferAssignment &assignment) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      ArrayAttr inputs = placeArray(kernel.getInputs(), assignment);
      ArrayAttr outputs = placeArray(kernel.getOutputs(), assignment);
      KernelFunctionOp function = outliner.outline(kernel);
      auto [buffer, bytes] = assignment.scratchOf(&op);
      LaunchOp::create(builder, op.getLoc(), function.getSymName(), inputs, outputs,
                       bytes ? offsetOf(buffer) : 0, bytes);
      return success();
    }
    if (auto call = dyn_cast<LibraryCallOpInterface>(op)) {
      if (!BufferAssignment::liesAsTaken(call))
        return op.emitOpError("has operands that lie as its library does not take them; run "
                              "mtc-prepare-calls first");
      auto [buffer, bytes] = assignment.scratchOf(&op);
      if (bytes < 0)
        return op.emitOpError("computes ")
               << getElementTypeOrSelf(op.getResult(0))
               << ", which the target's library cannot do on this machine";
      call.buildCall(builder,
                     {placesOf(op.getOperands(), assignment), placesOf(op.getResults(), assignment),
                      bytes ? offsetOf(buffer) : 0, bytes});
      return success();
    }
    SmallVector<FlatSymbolRefAttr> written = writtenVariables(&op);
    if (!written.empty()) {
      if (assignment.isComputedInPlace(&op))
        return success();
      Value value = op.getOperand(0);
      int64_t offset = *symbols.lookup<VariableOp>(written.front().getValue()).getOffset();
      auto destination =
          AtAttr::get(builder.getContext(), offset, cast<RankedTensorType>(value.getType()));
      CopyOp::create(builder, op.getLoc(), placeOf(value, assignment), destination);
      return success();
    }
    if (op.hasTrait<mtc::View>() || !readVariables(&op).empty() || isa<func::ReturnOp>(op))
      return success();
    return op.emitOpError("is neither a kernel nor a library call: it cannot be placed");
  }

  ModuleOp module;
  SymbolTable symbols;
  TargetInfo target;
  KernelOutliner outliner;
  llvm::StringMap<int64_t> argumentOffsets;
  Region common, aside;
  Region *current = &common;
  SmallVector<int64_t> scratchAtPeak;
  int64_t base = 0;
};

class PlacePass : public mtc::impl::PlaceBase<PlacePass> {
  void runOnOperation() override {
    moveConstantsToVariables(getOperation());
    Placer placer(getOperation());
    if (failed(placer.run()))
      return signalPassFailure();
  }
};

} // namespace
