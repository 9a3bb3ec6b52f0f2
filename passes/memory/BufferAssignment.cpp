//===- BufferAssignment.cpp - Assignment of values to buffers ---------------------------------===//

#include "passes/memory/BufferAssignment.h"

#include "ir/ScanBody.h"
#include "ir/attributes/OperandLayout.h"
#include "ir/builders/TensorBuilder.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mtc;

namespace {

class BufferAssigner {
public:
  BufferAssigner(func::FuncOp function, ArrayRef<PlannedOperation *> order,
                 const PlannedAccesses &accesses, const MemoryContext &context,
                 const MicroStepSplit *split)
      : function(function), order(order), accesses(accesses), context(context), split(split) {}

  BufferAssignment run(MutableArrayRef<PlannedValue> arguments,
                       ArrayRef<PlannedOperation *> reads) {
    const std::optional<ScanBody> body = ScanBody::of(function);
    for (auto [number, argument] : llvm::enumerate(arguments))
      argument.buffer = body ? bufferInBody(*body, number, argument)
                             : Buffer{context.arguments.offsetOf(function, number)};
    for (PlannedOperation *op : reads)
      op->results[0].buffer = bufferOfVariable(op->read.front(), op->time);
    if (split)
      assignSaved(arguments);
    for (PlannedOperation *op : order)
      if (!op->written.empty())
        assignWrite(op);
    if (body)
      assignBodyResults(*body, arguments);
    for (PlannedOperation *op : order)
      if (op->isAssembly)
        findParts(op);
    for (PlannedOperation *op : order)
      if (op->isCompute)
        assignResults(op);
      else if (op->isAssembly)
        assignAssembly(op, op->time);
    return std::move(assignment);
  }

private:
  Buffer bufferInBody(const ScanBody &body, unsigned number, const PlannedValue &argument);
  void assignBodyResults(const ScanBody &body, MutableArrayRef<PlannedValue> arguments);
  bool isUpdatedInPlace(PlannedValue *state, PlannedValue *next);
  void assignSaved(MutableArrayRef<PlannedValue> arguments);
  void assignWrite(PlannedOperation *write);
  bool isComputedInPlace(PlannedOperation *write, PlannedValue *value);
  /// Returns whether a variable is a slot that the function writes once and does not read.
  bool isOnlyWritten(FlatSymbolRefAttr symbol) const {
    VariableOp variable = context.variables[symbol].variable;
    return variable.getRole() == Role::Slot && accesses.readersOf(symbol).empty() &&
           accesses.writersOf(symbol).size() == 1;
  }
  void assignResults(PlannedOperation *op);
  void findParts(PlannedOperation *assembly);
  void assignAssembly(PlannedOperation *assembly, int64_t begin);
  void assignMove(MoveOp move, PlannedOperation *op);
  /// Returns whether all windows of the operation share the result, such as a scalar reduction.
  /// Windows run one after another, so the result must not overwrite an operand of the next window.
  static bool isCommonToWindows(PlannedOperation *op, unsigned result) {
    return op->results[result].bytes <= paddedBytes(1) && op->runsInWindows();
  }
  std::optional<unsigned> dyingOperand(PlannedOperation *op, unsigned result);
  std::optional<unsigned> operandInBufferOf(PlannedOperation *op, unsigned result);

  /// Creates a temporary; `bytes` must be a multiple of the arena's alignment.
  Buffer newTemporary(int64_t bytes, int64_t begin, int64_t end) {
    assignment.temporaries.push_back({bytes, begin, end});
    return Buffer{std::nullopt, static_cast<unsigned>(assignment.temporaries.size() - 1)};
  }

  /// Returns the buffer of a variable. A transient variable is allocated from the definition of its
  /// value to the end of the function.
  Buffer bufferOfVariable(FlatSymbolRefAttr symbol, int64_t birth) {
    const VariableLayout::Entry &entry = context.variables[symbol];
    if (entry.offset)
      return Buffer{entry.offset, 0, 0, entry.space};
    Buffer buffer = newTemporary(entry.bytes, birth, static_cast<int64_t>(order.size()));
    assignment.transients.insert({symbol, buffer});
    return buffer;
  }

  func::FuncOp function;
  ArrayRef<PlannedOperation *> order;
  const PlannedAccesses &accesses;
  const MemoryContext &context;
  const MicroStepSplit *split;
  BufferAssignment assignment;

  /// Position of a tile in an assembled value.
  struct Part {
    PlannedOperation *assembly;
    int64_t offset;
  };
  llvm::DenseMap<const PlannedValue *, Part> parts;
};

} // namespace

/// Returns the buffer of an argument of a scan's body.
Buffer BufferAssigner::bufferInBody(const ScanBody &body, unsigned number,
                                    const PlannedValue &argument) {
  if (body.isSlice(number) && !isAlignedSlice(argument.value))
    return newTemporary(argument.bytes, 0, argument.lastUse);
  const unsigned count = function.getNumArguments();
  return Buffer{0, 0, 0, MemorySpace::Device, body.isState(number) ? count + number : number};
}

/// Returns whether the next value of a state may overwrite the old one: no operation may use the
/// old value later, except for copies to outputs, which precede all operations.
bool BufferAssigner::isUpdatedInPlace(PlannedValue *state, PlannedValue *next) {
  PlannedOperation *definition = next->definition;
  const unsigned result = cast<OpResult>(next->value).getResultNumber();
  for (PlannedOperation *op : order) {
    if (!llvm::is_contained(op->operands, state) || op->isView ||
        op->op->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (op->time > definition->time || (op == definition && !definition->mayShare(result, state)))
      return false;
  }
  return true;
}

/// Assigns the buffers of the scan's results to values that may be computed in them. Other values
/// are copied at the end of the iteration.
void BufferAssigner::assignBodyResults(const ScanBody &body,
                                       MutableArrayRef<PlannedValue> arguments) {
  PlannedOperation *end = order.back();
  const unsigned states = static_cast<unsigned>(body.states), count = function.getNumArguments();
  auto passedOn = [&](PlannedValue *state) { // To another state.
    return llvm::is_contained(ArrayRef(end->operands).take_front(states), state);
  };
  for (auto [number, value] : llvm::enumerate(end->operands)) {
    Value returned = end->op->getOperand(number);
    if (!value->definition || !value->definition->isCompute || value->buffer ||
        offsetInBuffer(returned) != 0 || value->bytes != PlannedValue::bytesOf(returned))
      continue;
    if (number < states
            ? passedOn(&arguments[number]) || !isUpdatedInPlace(&arguments[number], value)
            : !isAlignedSlice(returned))
      continue;
    value->buffer = Buffer{0, 0, 0, MemorySpace::Device, count + static_cast<unsigned>(number)};
  }
}

/// Returns whether a result may be computed directly in a variable's buffer: no operation may use
/// the variable's old value later, and an operation that uses the old value while it computes the
/// result must read each element before it writes the corresponding result element.
bool BufferAssigner::isComputedInPlace(PlannedOperation *write, PlannedValue *value) {
  PlannedOperation *definition = value->definition;
  if (!definition || value->buffer)
    return false;
  if (definition->isAssembly) // Nobody uses the old value while the tiles are computed.
    return isOnlyWritten(write->written.front());
  if (!definition->isCompute)
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

/// Assigns slots to the values that the backward part of a micro-step reads. Values are computed in
/// their slots, except for arguments, which are copied. Values that were moved to another memory
/// space have a slot there, and those of messages have one already.
void BufferAssigner::assignSaved(MutableArrayRef<PlannedValue> arguments) {
  // The slots do not exist yet; their offsets are those of no other buffer.
  int64_t offset = context.arguments.getEnd();
  auto add = [&](PlannedValue &value) {
    if (!split->isSaved(value.value) || split->findSent(value.value))
      return;
    if (value.definition && !value.definition->isMove)
      value.buffer = Buffer{offset};
    offset += value.bytes;
    assignment.slots.push_back(split->getCopies() * value.bytes);
  };
  llvm::for_each(arguments, add);
  for (PlannedOperation *op : order)
    if (op->isCompute || op->isAssembly)
      llvm::for_each(op->results, [&](PlannedValue &result) {
        if (!op->isMove || cast<MoveOp>(op->op).getSpace() == MemorySpace::Device)
          add(result);
      });
}

void BufferAssigner::assignWrite(PlannedOperation *write) {
  PlannedValue *value = write->operands[0];
  write->isComputedInPlace = isComputedInPlace(write, value);
  PlannedOperation *birth = write->isComputedInPlace ? value->definition : write;
  Buffer buffer = bufferOfVariable(write->written.front(), birth->time);
  if (write->isComputedInPlace)
    value->buffer = buffer;
}

/// Records values that are computed directly in the result of one assembly. Slices of values cannot
/// be computed there, only whole values.
void BufferAssigner::findParts(PlannedOperation *assembly) {
  auto assemble = cast<AssembleOp>(assembly->op);
  for (auto [number, tile] : llvm::enumerate(assembly->operands))
    if (tile->definition && tile->definition->isCompute && !tile->definition->isMove &&
        !tile->buffer &&
        typeOf(tile->value).getNumElements() ==
            typeOf(assemble.getTiles()[number]).getNumElements())
      parts.try_emplace(tile, Part{assembly, assemble.getOffsetInBytes(number)});
}

/// Creates the buffer of an assembled value. It is live from the first tile until the last use of
/// the whole value or of a tile.
void BufferAssigner::assignAssembly(PlannedOperation *assembly, int64_t begin) {
  PlannedValue &whole = assembly->results[0];
  if (whole.buffer)
    return;
  int64_t end = whole.lastUse;
  for (const PlannedValue *tile : assembly->operands)
    if (auto part = parts.find(tile); part != parts.end() && part->second.assembly == assembly)
      end = std::max(end, tile->lastUse);
  whole.buffer = newTemporary(whole.bytes, begin, end);
}

std::optional<unsigned> BufferAssigner::dyingOperand(PlannedOperation *op, unsigned result) {
  if (op->runsInWindows())
    // Windows of the result are written while later ones of the operand are unread.
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(op->operands)) {
    if (operand->buffer->fixedOffset || operand->buffer->space != MemorySpace::Device ||
        operand->lastUse != op->time)
      continue;
    // An earlier result of the operation may have taken the operand's buffer already, even a result
    // without users.
    auto isThere = [&](const PlannedValue &other) { return other.buffer == operand->buffer; };
    if (assignment.temporaries[operand->buffer->temporary].end != op->time ||
        llvm::any_of(llvm::ArrayRef(op->results).take_front(result), isThere))
      continue;
    if (op->mayShare(result, operand))
      return i;
  }
  return std::nullopt;
}

/// Returns the operand in whose buffer a result of the same operation is computed.
std::optional<unsigned> BufferAssigner::operandInBufferOf(PlannedOperation *op, unsigned result) {
  for (auto [i, operand] : llvm::enumerate(op->operands))
    if (operand->buffer == op->results[result].buffer && offsetInBuffer(op->op->getOperand(i)) == 0)
      return i;
  return std::nullopt;
}

/// Offloaded values are allocated in whole pages of the other memory space.
void BufferAssigner::assignMove(MoveOp move, PlannedOperation *op) {
  PlannedValue &result = op->results[0];
  if (result.buffer)
    return; // It has the buffer of a variable.
  if (move.getSpace() == MemorySpace::Device) {
    result.buffer = newTemporary(result.bytes, op->time, result.lastUse);
    return;
  }
  assignment.movedAway.push_back(
      {static_cast<int64_t>(llvm::alignTo(result.bytes, TransferSlotsOp::alignment)), op->time,
       result.lastUse});
  result.buffer = Buffer{std::nullopt, static_cast<unsigned>(assignment.movedAway.size() - 1), 0,
                         move.getSpace()};
}

void BufferAssigner::assignResults(PlannedOperation *op) {
  if (op->isMove)
    return assignMove(cast<MoveOp>(op->op), op);
  int64_t time = op->time;
  std::optional<unsigned> accumulated; // Operand in whose buffer the first result is computed.
  for (auto [number, result] : llvm::enumerate(op->results)) {
    std::optional<unsigned> ignored;
    std::optional<unsigned> &operand = number == 0 ? accumulated : ignored;
    if (result.buffer) { // It has the buffer of a variable.
      operand = operandInBufferOf(op, number);
      continue;
    }
    if (auto part = parts.find(&result); part != parts.end()) {
      assignAssembly(part->second.assembly, time);
      result.buffer = part->second.assembly->results[0].buffer;
      result.buffer->part = part->second.offset;
      operand = operandInBufferOf(op, number);
      continue;
    }
    operand = dyingOperand(op, number);
    if (operand) {
      // The result fits because the sizes are equal.
      result.buffer = op->operands[*operand]->buffer;
      assignment.temporaries[result.buffer->temporary].end = result.lastUse;
    } else {
      result.buffer = newTemporary(result.bytes, time, result.lastUse);
    }
  }
  if (auto scan = dyn_cast<ScanOp>(op->op))
    op->scratchBytes = context.bodies.lookup(scan.getBodyAttr().getAttr());
  else
    op->scratchBytes = op->getScratchBytes(context.target, accumulated);
  if (op->scratchBytes != 0)
    op->scratch = newTemporary(paddedBytes(std::max<int64_t>(op->scratchBytes, 0)), time, time);
}

bool mtc::isAlignedSlice(Value slice) {
  const int64_t bytes = byteSize(typeOf(slice));
  return bytes == paddedBytes(bytes);
}

BufferAssignment
BufferAssignment::compute(func::FuncOp function, ArrayRef<PlannedOperation *> order,
                          MutableArrayRef<PlannedValue> arguments, const PlannedAccesses &accesses,
                          const MemoryContext &context, const MicroStepSplit *split) {
  SmallVector<PlannedOperation *> reads;
  for (PlannedOperation *op : order) {
    for (PlannedValue &result : op->results)
      result.buffer.reset();
    if (!op->read.empty())
      reads.push_back(op);
  }
  return BufferAssigner(function, order, accesses, context, split).run(arguments, reads);
}
