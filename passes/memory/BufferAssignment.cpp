//===- BufferAssignment.cpp - Which buffer holds each value of a function ---------------------===//

#include "passes/memory/BufferAssignment.h"

#include "ir/OperandLayout.h"
#include "ir/VariableAccess.h"

using namespace mlir;
using namespace mtc;

class mtc::BufferAssigner {
public:
  BufferAssigner(func::FuncOp function, const Schedule &schedule,
                 const BufferAssignment::Context &context)
      : function(function), schedule(schedule), context(context),
        accesses(function.getBody().front()) {}

  BufferAssignment run() {
    findLifetimes();
    assignReads();
    forwardWrites();
    for (Operation *op : schedule.getOrder())
      assignResults(op);
    return std::move(assignment);
  }

private:
  int64_t timeOf(Operation *op) const { return context.firstTime + schedule.timeOf(op); }
  int64_t endTime() const { return context.firstTime + schedule.getEnd(); }
  int64_t lastUseOf(Value value);
  void findLifetimes();
  void assignReads();
  void forwardWrites();
  void assignResults(Operation *op);
  bool mayForward(Operation *write, Value root);
  bool mayShare(OpResult result, Value root);
  bool mayShare(KernelOp kernel, unsigned result, Value root);
  std::optional<unsigned> dyingOperand(OpResult result);
  std::optional<unsigned> operandUnder(OpResult result);
  Buffer newTemporary(int64_t bytes, int64_t begin, int64_t end);
  Buffer bufferOfVariable(FlatSymbolRefAttr variable, int64_t birth);

  func::FuncOp function;
  const Schedule &schedule;
  const BufferAssignment::Context &context;
  VariableAccesses accesses;
  DenseMap<Value, int64_t> lastUses; // By root.
  BufferAssignment assignment;
  DenseMap<Value, Buffer> &buffers = assignment.buffers;
};

BufferAssignment BufferAssignment::compute(func::FuncOp function, const Schedule &schedule,
                                           const Context &context) {
  return BufferAssigner(function, schedule, context).run();
}

int64_t BufferAssigner::lastUseOf(Value value) {
  int64_t last = value.getDefiningOp() ? timeOf(value.getDefiningOp()) : context.firstTime;
  for (Operation *user : value.getUsers()) {
    last = std::max(last, timeOf(user));
    if (user->hasTrait<mtc::View>())
      last = std::max(last, lastUseOf(user->getResult(0)));
  }
  return last;
}

void BufferAssigner::findLifetimes() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    lastUses[argument] = lastUseOf(argument);
  for (Operation &op : block)
    if (!op.hasTrait<mtc::View>())
      for (Value result : op.getResults())
        lastUses[result] = lastUseOf(result);
}

/// A transient variable has a slice from the birth of its value to the function's end.
Buffer BufferAssigner::bufferOfVariable(FlatSymbolRefAttr variable, int64_t birth) {
  if (auto fixed = context.variables.offsets.find(variable.getValue());
      fixed != context.variables.offsets.end())
    return Buffer{fixed->second};
  auto op = context.symbols.lookup<VariableOp>(variable.getValue());
  Buffer buffer = newTemporary(byteSize(op.getTensorType()), birth, endTime());
  assignment.transientBuffers.insert({variable, buffer});
  return buffer;
}

void BufferAssigner::assignReads() {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    buffers[argument] = Buffer{context.arguments.offsetOf(function, argument.getArgNumber())};
  }
  for (Operation &op : block) {
    SmallVector<FlatSymbolRefAttr> variables = readVariables(&op);
    if (!variables.empty())
      buffers[op.getResult(0)] = bufferOfVariable(variables.front(), timeOf(&op));
  }
}

/// A result may be computed in a variable's slice if nothing reads the variable's old value later,
/// and what reads it at that very operation reads each element before its slice is written.
bool BufferAssigner::mayForward(Operation *write, Value root) {
  auto result = dyn_cast<OpResult>(root);
  if (!result || !isa<KernelOp, LibraryCallOpInterface>(result.getOwner()) ||
      buffers.contains(root))
    return false;
  int64_t birth = timeOf(result.getOwner()), written = timeOf(write);
  for (FlatSymbolRefAttr variable : writtenVariables(write)) {
    for (Operation *other : accesses.writersOf(variable)) {
      int64_t time = timeOf(other);
      if (other != write && time > birth && time < std::max(written, lastUses.lookup(root)))
        return false;
    }
    for (Operation *read : accesses.readersOf(variable)) {
      Value old = read->getResult(0);
      if (timeOf(read) > written || lastUses.lookup(old) < birth)
        continue;
      if (lastUses.lookup(old) > birth || !mayShare(result, old))
        return false;
    }
  }
  return true;
}

void BufferAssigner::forwardWrites() {
  for (Operation *op : schedule.getOrder()) {
    SmallVector<FlatSymbolRefAttr> variables = writtenVariables(op);
    if (variables.empty())
      continue;
    Value root = rootOf(op->getOperand(0));
    bool isForwarded = mayForward(op, root);
    Operation *birth = isForwarded ? root.getDefiningOp() : op;
    Buffer buffer = bufferOfVariable(variables.front(), timeOf(birth));
    if (!isForwarded)
      continue;
    buffers[root] = buffer;
    assignment.forwarded.insert(op);
  }
}

/// Whether a result may lie where an operand lies.
bool BufferAssigner::mayShare(OpResult result, Value root) {
  if (auto kernel = dyn_cast<KernelOp>(result.getOwner()))
    return mayShare(kernel, result.getResultNumber(), root);
  auto call = dyn_cast<EpilogueOpInterface>(result.getOwner());
  if (!call || result.getResultNumber() != 0 ||
      byteSize(cast<RankedTensorType>(root.getType())) !=
          byteSize(cast<RankedTensorType>(result.getType())))
    return false;
  // Where the call reads it a second time, that may be after it is written.
  auto reads = llvm::make_filter_range(
      call->getOpOperands(), [&](OpOperand &operand) { return rootOf(operand.get()) == root; });
  return llvm::hasSingleElement(reads) && offsetInBuffer((*reads.begin()).get()) == 0 &&
         call.mayAccumulate((*reads.begin()).getOperandNumber());
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
bool BufferAssigner::mayShare(KernelOp kernel, unsigned result, Value root) {
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

std::optional<unsigned> BufferAssigner::dyingOperand(OpResult result) {
  int64_t time = timeOf(result.getOwner());
  for (auto [i, operand] : llvm::enumerate(result.getOwner()->getOperands())) {
    Value root = rootOf(operand);
    Buffer buffer = buffers.lookup(root);
    if (buffer.fixedOffset || lastUses.lookup(root) != time)
      continue;
    // Another value may have taken the root's slice already, as a result of this operation.
    if (context.temporaries[buffer.temporary].end != time)
      continue;
    if (mayShare(result, root))
      return i;
  }
  return std::nullopt;
}

/// The operand that lies where a result of the same operation lies.
std::optional<unsigned> BufferAssigner::operandUnder(OpResult result) {
  Buffer own = buffers.lookup(result);
  for (auto [i, operand] : llvm::enumerate(result.getOwner()->getOperands())) {
    Buffer buffer = buffers.lookup(rootOf(operand));
    if (buffer.fixedOffset == own.fixedOffset && buffer.temporary == own.temporary &&
        offsetInBuffer(operand) == 0)
      return i;
  }
  return std::nullopt;
}

Buffer BufferAssigner::newTemporary(int64_t bytes, int64_t begin, int64_t end) {
  context.temporaries.push_back({paddedBytes(bytes), begin, end});
  return Buffer{std::nullopt, static_cast<unsigned>(context.temporaries.size() - 1)};
}

void BufferAssigner::assignResults(Operation *op) {
  int64_t time = timeOf(op);
  auto call = dyn_cast<LibraryCallOpInterface>(op);
  if (!isa<KernelOp>(op) && !call)
    return;
  std::optional<unsigned> accumulated; // The operand that the first result lies over.
  for (OpResult result : op->getResults()) {
    std::optional<unsigned> ignored;
    std::optional<unsigned> &operand = result.getResultNumber() == 0 ? accumulated : ignored;
    if (buffers.contains(result)) { // In a variable.
      operand = operandUnder(result);
      continue;
    }
    int64_t end = lastUses.lookup(result);
    operand = dyingOperand(result);
    if (operand) {
      Buffer shared = buffers.lookup(rootOf(op->getOperand(*operand)));
      // The result's bytes fit: sizes are equal.
      context.temporaries[shared.temporary].end = std::max(end, time);
      buffers[result] = shared;
      continue;
    }
    buffers[result] =
        newTemporary(byteSize(cast<RankedTensorType>(result.getType())), time, std::max(end, time));
  }
  int64_t bytes = 0;
  if (auto kernel = dyn_cast<KernelOp>(op))
    bytes = context.target.getScratchBytes(kernel);
  else if (call && takesOperandLayouts(call))
    bytes = context.target.getScratchBytes(call, accumulated);
  if (bytes != 0)
    assignment.scratches[op] = {newTemporary(std::max<int64_t>(bytes, 0), time, time), bytes};
}
