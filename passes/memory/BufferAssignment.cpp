//===- BufferAssignment.cpp - Which buffer holds each value of a function ---------------------===//

#include "passes/memory/BufferAssignment.h"

#include "ir/OperandLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

namespace {

class BufferAssigner {
public:
  BufferAssigner(func::FuncOp function, ArrayRef<PlannedOperation *> order,
                 const PlannedAccesses &accesses, const MemoryContext &context)
      : function(function), order(order), accesses(accesses), context(context) {}

  BufferAssignment run(MutableArrayRef<PlannedValue> arguments,
                       ArrayRef<PlannedOperation *> reads) {
    for (auto [number, argument] : llvm::enumerate(arguments))
      argument.buffer =
          Buffer{context.arguments.offsetOf(function, number), 0, MemorySpace::Device};
    for (PlannedOperation *op : reads)
      op->results[0].buffer = bufferOfVariable(op->read.front(), op->time);
    for (PlannedOperation *op : order)
      if (!op->written.empty())
        assignWrite(op);
    for (PlannedOperation *op : order)
      if (op->isCompute)
        assignResults(op);
    return std::move(assignment);
  }

private:
  void assignWrite(PlannedOperation *write);
  bool isComputedInPlace(PlannedOperation *write, PlannedValue *value);
  void assignResults(PlannedOperation *op);
  void assignMove(MoveOp move, PlannedOperation *op);
  /// Whether windows of the operation, which run one after another, have a result in common: none
  /// may take the place of what the next one reads.
  static bool isCommonToWindows(PlannedOperation *op, unsigned result) {
    return op->results[result].bytes <= paddedBytes(1) &&
           llvm::any_of(op->operands, [](PlannedValue *operand) {
             return operand->buffer && operand->buffer->space != MemorySpace::Device;
           });
  }
  std::optional<unsigned> dyingOperand(PlannedOperation *op, unsigned result);
  std::optional<unsigned> operandInBufferOf(PlannedOperation *op, unsigned result);

  /// `bytes` are a multiple of the arena's alignment.
  Buffer newTemporary(int64_t bytes, int64_t begin, int64_t end) {
    assignment.temporaries.push_back({bytes, begin, end});
    return Buffer{std::nullopt, static_cast<unsigned>(assignment.temporaries.size() - 1),
                  MemorySpace::Device};
  }

  /// A transient variable has a buffer from the birth of its value to the function's end.
  Buffer bufferOfVariable(FlatSymbolRefAttr symbol, int64_t birth) {
    const VariableLayout::Entry &entry = context.variables[symbol];
    if (entry.offset)
      return Buffer{entry.offset, 0, entry.space};
    Buffer buffer = newTemporary(entry.bytes, birth, static_cast<int64_t>(order.size()));
    assignment.transients.insert({symbol, buffer});
    return buffer;
  }

  func::FuncOp function;
  ArrayRef<PlannedOperation *> order;
  const PlannedAccesses &accesses;
  const MemoryContext &context;
  BufferAssignment assignment;
};

} // namespace

/// A result may be computed in a variable's buffer if nothing reads the variable's old value later,
/// and what reads it at that very operation reads each element before the result's is written.
bool BufferAssigner::isComputedInPlace(PlannedOperation *write, PlannedValue *value) {
  PlannedOperation *definition = value->definition;
  if (!definition || !definition->isCompute || value->buffer)
    return false;
  int64_t birth = definition->time;
  unsigned result = cast<OpResult>(value->value).getResultNumber();
  for (FlatSymbolRefAttr variable : write->written) {
    for (PlannedOperation *other : accesses.writersOf(variable))
      if (other != write && other->time > birth &&
          other->time < std::max(write->time, value->lastUse))
        return false;
    for (PlannedOperation *read : accesses.readersOf(variable)) {
      PlannedValue &old = read->results[0];
      if (read->time > write->time || old.lastUse < birth)
        continue;
      if (old.lastUse > birth || isCommonToWindows(definition, result) ||
          !definition->mayShare(result, &old))
        return false;
    }
  }
  return true;
}

void BufferAssigner::assignWrite(PlannedOperation *write) {
  PlannedValue *value = write->operands[0];
  write->isComputedInPlace = isComputedInPlace(write, value);
  PlannedOperation *birth = write->isComputedInPlace ? value->definition : write;
  Buffer buffer = bufferOfVariable(write->written.front(), birth->time);
  if (write->isComputedInPlace)
    value->buffer = buffer;
}

std::optional<unsigned> BufferAssigner::dyingOperand(PlannedOperation *op, unsigned result) {
  if (isCommonToWindows(op, result))
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(op->operands)) {
    if (operand->buffer->fixedOffset || operand->buffer->space != MemorySpace::Device ||
        operand->lastUse != op->time)
      continue;
    // Another value may have taken the operand's buffer already, as a result of this operation.
    if (assignment.temporaries[operand->buffer->temporary].end != op->time)
      continue;
    if (op->mayShare(result, operand))
      return i;
  }
  return std::nullopt;
}

/// The operand in whose buffer a result of the same operation is computed.
std::optional<unsigned> BufferAssigner::operandInBufferOf(PlannedOperation *op, unsigned result) {
  for (auto [i, operand] : llvm::enumerate(op->operands))
    if (operand->buffer == op->results[result].buffer && offsetInBuffer(op->op->getOperand(i)) == 0)
      return i;
  return std::nullopt;
}

/// What is moved away from the device takes whole pages there.
void BufferAssigner::assignMove(MoveOp move, PlannedOperation *op) {
  PlannedValue &result = op->results[0];
  if (result.buffer)
    return; // A variable's.
  if (move.getSpace() == MemorySpace::Device) {
    result.buffer = newTemporary(result.bytes, op->time, result.lastUse);
    return;
  }
  assignment.movedAway.push_back(
      {static_cast<int64_t>(llvm::alignTo(result.bytes, TransferSlotsOp::alignment)), op->time,
       result.lastUse});
  result.buffer =
      Buffer{std::nullopt, static_cast<unsigned>(assignment.movedAway.size() - 1), move.getSpace()};
}

void BufferAssigner::assignResults(PlannedOperation *op) {
  if (auto move = dyn_cast<MoveOp>(op->op))
    return assignMove(move, op);
  int64_t time = op->time;
  std::optional<unsigned> accumulated; // The operand in whose buffer the first result is computed.
  for (auto [number, result] : llvm::enumerate(op->results)) {
    std::optional<unsigned> ignored;
    std::optional<unsigned> &operand = number == 0 ? accumulated : ignored;
    if (result.buffer) { // A variable's.
      operand = operandInBufferOf(op, number);
      continue;
    }
    operand = dyingOperand(op, number);
    if (operand) {
      // The result's bytes fit: sizes are equal.
      result.buffer = op->operands[*operand]->buffer;
      assignment.temporaries[result.buffer->temporary].end = result.lastUse;
    } else {
      result.buffer = newTemporary(result.bytes, time, result.lastUse);
    }
  }
  op->scratchBytes = op->getScratchBytes(context.target, accumulated);
  if (op->scratchBytes != 0)
    op->scratch = newTemporary(paddedBytes(std::max<int64_t>(op->scratchBytes, 0)), time, time);
}

BufferAssignment BufferAssignment::compute(func::FuncOp function,
                                           ArrayRef<PlannedOperation *> order,
                                           MutableArrayRef<PlannedValue> arguments,
                                           const PlannedAccesses &accesses,
                                           const MemoryContext &context) {
  SmallVector<PlannedOperation *> reads;
  for (PlannedOperation *op : order) {
    for (PlannedValue &result : op->results)
      result.buffer.reset();
    if (!op->read.empty())
      reads.push_back(op);
  }
  return BufferAssigner(function, order, accesses, context).run(arguments, reads);
}
