//===- BufferAssignment.cpp - Which buffer holds each value of a function ---------------------===//

#include "passes/memory/BufferAssignment.h"

using namespace mlir;
using namespace mtc;

SmallVector<FlatSymbolRefAttr> mtc::readVariables(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return {read.getVariableAttr()};
  if (auto read = dyn_cast<ReadFlatOp>(op))
    return llvm::to_vector(read.getVariables().getAsRange<FlatSymbolRefAttr>());
  return {};
}

SmallVector<FlatSymbolRefAttr> mtc::writtenVariables(Operation *op) {
  if (auto write = dyn_cast<WriteOp>(op))
    return {write.getVariableAttr()};
  if (auto write = dyn_cast<WriteFlatOp>(op))
    return llvm::to_vector(write.getVariables().getAsRange<FlatSymbolRefAttr>());
  return {};
}

VariableAccesses::VariableAccesses(Block &block) {
  for (Operation &op : block) {
    for (FlatSymbolRefAttr variable : readVariables(&op))
      readers[variable].push_back(&op);
    for (FlatSymbolRefAttr variable : writtenVariables(&op))
      writers[variable].push_back(&op);
  }
}

/// The last operation that uses a value or a view of it.
static Operation *lastUser(Value value) {
  Operation *last = value.getDefiningOp();
  for (Operation *user : value.getUsers()) {
    Operation *candidate = user->hasTrait<mtc::View>() ? lastUser(user->getResult(0)) : user;
    if (last->isBeforeInBlock(candidate))
      last = candidate;
  }
  return last;
}

/// The last use of the old values of the variables that `write` replaces; `write` itself without
/// one.
static Operation *lastUseOfOldValues(Operation *write, const VariableAccesses &accesses) {
  Operation *last = write;
  for (FlatSymbolRefAttr variable : writtenVariables(write))
    for (Operation *read : accesses.readersOf(variable)) {
      if (!read->isBeforeInBlock(write))
        continue;
      Operation *user = lastUser(read->getResult(0));
      if (last->isBeforeInBlock(user))
        last = user;
    }
  return last;
}

LogicalResult mtc::sinkWrites(func::FuncOp function) {
  SmallVector<Operation *> writes;
  for (Operation &op : function.getBody().front())
    if (!writtenVariables(&op).empty())
      writes.push_back(&op);
  VariableAccesses accesses(function.getBody().front());
  for (Operation *write : llvm::reverse(writes)) {
    Operation *last = lastUseOfOldValues(write, accesses);
    if (last == write)
      continue;
    auto isBetween = [&](Operation *op) {
      return write->isBeforeInBlock(op) && !last->isBeforeInBlock(op);
    };
    for (FlatSymbolRefAttr variable : writtenVariables(write))
      if (llvm::any_of(accesses.readersOf(variable), isBetween) ||
          llvm::any_of(accesses.writersOf(variable), isBetween))
        return write->emitOpError(
            "gives a variable a new value that is used before the last use of "
            "its old one");
    if (last->hasTrait<OpTrait::IsTerminator>())
      return write->emitOpError("replaces a value that the function returns");
    write->moveAfter(last);
  }
  return success();
}

BufferAssignment::BufferAssignment(func::FuncOp function, SymbolTable &symbols,
                                   const llvm::StringMap<int64_t> &argumentOffsets,
                                   const TargetInfo &target,
                                   SmallVectorImpl<LiveBuffer> &temporaries, int64_t firstTime)
    : function(function), accesses(function.getBody().front()), symbols(symbols),
      argumentOffsets(argumentOffsets), target(target), temporaries(temporaries),
      firstTime(firstTime), lastTime(firstTime) {
  findLifetimes();
  placeReads();
  forwardWrites();
  for (Operation &op : function.getBody().front())
    placeResults(&op);
}

int64_t BufferAssignment::offsetInBuffer(Value value) {
  int64_t bytes = elementBytes(getElementTypeOrSelf(value)), offset = 0;
  for (Operation *op = value.getDefiningOp(); op && op->hasTrait<mtc::View>();
       op = op->getOperand(0).getDefiningOp())
    if (auto movement = dyn_cast<StridedMovementOpInterface>(op))
      offset += movement.getLayout().offset * bytes;
  return offset;
}

int64_t BufferAssignment::lastUseOf(Value value) {
  int64_t last = value.getDefiningOp() ? times.lookup(value.getDefiningOp()) : firstTime;
  for (Operation *user : value.getUsers()) {
    last = std::max(last, times.lookup(user));
    if (user->hasTrait<mtc::View>())
      last = std::max(last, lastUseOf(user->getResult(0)));
  }
  return last;
}

void BufferAssignment::findLifetimes() {
  Block &block = function.getBody().front();
  for (Operation &op : block)
    times[&op] = lastTime++;
  for (BlockArgument argument : block.getArguments())
    lastUses[argument] = lastUseOf(argument);
  for (Operation &op : block)
    if (!op.hasTrait<mtc::View>())
      for (Value result : op.getResults())
        lastUses[result] = lastUseOf(result);
}

VariableOp BufferAssignment::lookup(FlatSymbolRefAttr variable) {
  return symbols.lookup<VariableOp>(variable.getValue());
}

/// A transient variable has a place from the birth of its value to the function's end.
Buffer BufferAssignment::bufferOfVariable(FlatSymbolRefAttr variable, int64_t birth) {
  VariableOp op = lookup(variable);
  if (!op->hasAttr(transientAttribute))
    return Buffer{*op.getOffset()};
  Buffer buffer = newTemporary(byteSize(op.getTensorType()), birth, lastTime);
  transientBuffers.insert({variable, buffer});
  return buffer;
}

void BufferAssignment::placeReads() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "mtc.name");
    buffers[argument] = Buffer{argumentOffsets.lookup(name.getValue())};
  }
  for (Operation &op : block) {
    SmallVector<FlatSymbolRefAttr> variables = readVariables(&op);
    if (!variables.empty())
      buffers[op.getResult(0)] = bufferOfVariable(variables.front(), times.lookup(&op));
  }
}

/// A result may be computed in a variable's place if nothing reads the variable's old value later,
/// and what reads it at that very operation reads each element before its place is written.
bool BufferAssignment::mayForward(Operation *write, Value root) {
  auto result = dyn_cast<OpResult>(root);
  if (!result || !isa<KernelOp, LibraryCallOpInterface>(result.getOwner()) ||
      buffers.contains(root))
    return false;
  int64_t birth = times.lookup(result.getOwner()), written = times.lookup(write);
  for (FlatSymbolRefAttr variable : writtenVariables(write)) {
    for (Operation *other : accesses.writersOf(variable)) {
      int64_t time = times.lookup(other);
      if (other != write && time > birth && time < std::max(written, lastUses.lookup(root)))
        return false;
    }
    for (Operation *read : accesses.readersOf(variable)) {
      Value old = read->getResult(0);
      if (times.lookup(read) > written || lastUses.lookup(old) < birth)
        continue;
      if (lastUses.lookup(old) > birth || !mayShare(result, old))
        return false;
    }
  }
  return true;
}

void BufferAssignment::forwardWrites() {
  for (Operation &op : function.getBody().front()) {
    SmallVector<FlatSymbolRefAttr> variables = writtenVariables(&op);
    if (variables.empty())
      continue;
    Value root = rootOf(op.getOperand(0));
    bool isForwarded = mayForward(&op, root);
    Operation *birth = isForwarded ? root.getDefiningOp() : &op;
    Buffer buffer = bufferOfVariable(variables.front(), times.lookup(birth));
    if (!isForwarded)
      continue;
    buffers[root] = buffer;
    forwarded.insert(&op);
  }
}

/// Whether a result may lie where an operand lies.
bool BufferAssignment::mayShare(OpResult result, Value root) {
  if (auto kernel = dyn_cast<KernelOp>(result.getOwner()))
    return mayShare(kernel, result.getResultNumber(), root);
  auto call = dyn_cast<LibraryCallOpInterface>(result.getOwner());
  if (!call || byteSize(cast<RankedTensorType>(root.getType())) !=
                   byteSize(cast<RankedTensorType>(result.getType())))
    return false;
  // Where the call reads it a second time, that may be after it is written.
  auto reads = llvm::make_filter_range(
      call->getOpOperands(), [&](OpOperand &operand) { return rootOf(operand.get()) == root; });
  return llvm::hasSingleElement(reads) && offsetInBuffer((*reads.begin()).get()) == 0 &&
         call.mayWriteOver(result.getResultNumber(), (*reads.begin()).getOperandNumber());
}

/// Whether the indices differ between points that are the same to `other`.
static bool variesBeyond(AffineMap map, AffineMap other, ArrayRef<int64_t> space) {
  return llvm::any_of(llvm::enumerate(space), [&](auto dim) {
    return dim.value() > 1 && map.isFunctionOfDim(dim.index()) &&
           !other.isFunctionOfDim(dim.index());
  });
}

/// For a kernel: every access to the operand is at the index at which the result is stored, of
/// elements of the same size. A conditional access reads at some of the points only that the result
/// combines, and may do so after it is stored.
bool BufferAssignment::mayShare(KernelOp kernel, unsigned result, Value root) {
  FusibleShape shape = kernel.getShape();
  if (shape != FusibleShape::Elementwise && shape != FusibleShape::RowReduction)
    return false;
  Block &body = kernel.getBody().front();
  auto yield = cast<KernelYieldOp>(body.getTerminator());
  AffineMap stored = cast<AffineMapAttr>(yield.getMaps()[result]).getValue();
  auto resultType = cast<RankedTensorType>(kernel.getOutputs()[result].getType());
  for (auto [input, argument] : llvm::zip_equal(kernel.getInputs(), body.getArguments())) {
    if (rootOf(input) != root)
      continue;
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getNumElements() != resultType.getNumElements() ||
        elementBytes(type.getElementType()) != elementBytes(resultType.getElementType()))
      return false;
    for (Operation *user : argument.getUsers()) {
      auto load = cast<KernelLoadOp>(user);
      if (!load.getSymbols().empty())
        return false;
      AffineMap map = load.getMap();
      if (variesBeyond(map, stored, kernel.getSpace()))
        return false;
      if (type.getShape() != resultType.getShape())
        map = reshapeMap(map, type.getShape(), resultType.getShape(), kernel.getSpace());
      if (map != stored)
        return false;
    }
  }
  return true;
}

std::optional<unsigned> BufferAssignment::dyingOperand(OpResult result) {
  int64_t time = times.lookup(result.getOwner());
  for (auto [i, operand] : llvm::enumerate(result.getOwner()->getOperands())) {
    Value root = rootOf(operand);
    Buffer buffer = buffers.lookup(root);
    if (buffer.fixedOffset || lastUses.lookup(root) != time)
      continue;
    // Another value may have taken the root's place already, as a result of this operation.
    if (temporaries[buffer.temporary].end != time)
      continue;
    if (mayShare(result, root))
      return i;
  }
  return std::nullopt;
}

/// The operand that lies where a result of the same operation has been placed.
std::optional<unsigned> BufferAssignment::operandAtPlaceOf(OpResult result) {
  Buffer place = buffers.lookup(result);
  for (auto [i, operand] : llvm::enumerate(result.getOwner()->getOperands())) {
    Buffer buffer = buffers.lookup(rootOf(operand));
    if (buffer.fixedOffset == place.fixedOffset && buffer.temporary == place.temporary &&
        offsetInBuffer(operand) == 0)
      return i;
  }
  return std::nullopt;
}

Buffer BufferAssignment::newTemporary(int64_t bytes, int64_t begin, int64_t end) {
  temporaries.push_back({paddedBytes(bytes), begin, end});
  return Buffer{std::nullopt, static_cast<unsigned>(temporaries.size() - 1)};
}

bool BufferAssignment::liesAsTaken(LibraryCallOpInterface call) {
  return llvm::all_of(call->getOpOperands(), [&](OpOperand &operand) {
    return call.takesLayout(operand.getOperandNumber(), stridesOf(operand.get()));
  });
}

void BufferAssignment::placeResults(Operation *op) {
  int64_t time = times.lookup(op);
  auto call = dyn_cast<LibraryCallOpInterface>(op);
  if (!isa<KernelOp>(op) && !call)
    return;
  SmallVector<std::optional<unsigned>> operandsShared(op->getNumResults());
  for (OpResult result : op->getResults()) {
    std::optional<unsigned> &operand = operandsShared[result.getResultNumber()];
    if (buffers.contains(result)) { // In a variable.
      operand = operandAtPlaceOf(result);
      continue;
    }
    int64_t end = lastUses.lookup(result);
    operand = dyingOperand(result);
    if (operand) {
      Buffer shared = buffers.lookup(rootOf(op->getOperand(*operand)));
      // The result's bytes fit: sizes are equal.
      temporaries[shared.temporary].end = std::max(end, time);
      buffers[result] = shared;
      continue;
    }
    buffers[result] =
        newTemporary(byteSize(cast<RankedTensorType>(result.getType())), time, std::max(end, time));
  }
  int64_t bytes = 0;
  if (auto kernel = dyn_cast<KernelOp>(op))
    bytes = target.getScratchBytes(kernel);
  else if (call && liesAsTaken(call))
    bytes = target.getScratchBytes(call, operandsShared);
  if (bytes != 0)
    scratches[op] = {newTemporary(std::max<int64_t>(bytes, 0), time, time), bytes};
}
