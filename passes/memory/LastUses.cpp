//===- LastUses.cpp - Last uses of the values of a step ---------------------------------------===//

#include "passes/memory/LastUses.h"

#include "ir/steps/StepAccess.h"
#include "passes/memory/WindowWriter.h"

using namespace mlir;
using namespace mtc;

LastUses::LastUses(const FunctionMemory &function, const VariableLayout &variables, SliceOf sliceOf)
    : function(function), variables(variables), sliceOf(sliceOf) {
  for (const Buffer &buffer : llvm::make_second_range(function.getBuffers().transients))
    transients[buffer.temporary].push_back(buffer);
  for (const PlannedOperation *planned : function.getOrder())
    if (planned->isAssembly && !planned->results[0].buffer->fixedOffset &&
        planned->results[0].buffer->space == MemorySpace::Device)
      assembled[planned->results[0].buffer->temporary].push_back(planned);
}

void LastUses::write(Block &body, ArrayRef<int64_t> counts, int64_t first) const {
  auto op = std::next(body.begin(), first);
  int64_t number = first;
  for (const PlannedOperation *planned : function.getOrder()) {
    for (const int64_t end = counts[planned->time]; number < end; ++number, ++op) {
      if (planned->runsInWindows() && isa<CopyOp>(*op))
        continue; // The last use of a copy in a slot is known.
      // A copy that initializes a kernel's result is used only by that kernel.
      const bool isForNext = planned->isCompute && number + 1 < end;
      const StepAccess access(&*op);
      SmallVector<int64_t> lastUses(access.lastUses);
      if (planned->op->hasTrait<OpTrait::IsTerminator>())
        continue; // Copies at the end of an iteration.
      if (planned->runsInWindows()) {
        for (auto [i, lastUse] : llvm::enumerate(lastUses))
          if (lastUse == WindowWriter::asPlanned)
            lastUse = lastUseOf(*planned, i, -1, counts);
      } else {
        for (size_t i = 0; i < access.results.size(); ++i)
          lastUses.push_back(
              lastUseOf(*planned, resultOf(*planned, &*op, i), isForNext ? end - 1 : -1, counts));
      }
      setLastUses(&*op, lastUses);
    }
  }
}

/// Returns the number of the planned operation's result that corresponds to result `i` of an
/// operation emitted for it. A scan is preceded by copies to its final states.
size_t LastUses::resultOf(const PlannedOperation &planned, Operation *op, size_t i) const {
  auto copy = dyn_cast<CopyOp>(op);
  auto scan = dyn_cast<ScanOp>(planned.op);
  if (!copy || !scan)
    return i;
  return std::distance(scan.getFinals().begin(), llvm::find_if(scan.getFinals(), [&](Value final) {
                         return sliceOf(final) == copy.getDestination();
                       }));
}

/// Returns the last use of a value, including uses of the assembled values that it is a tile of.
int64_t LastUses::lastUseOf(const PlannedValue &value) const {
  int64_t lastUse = value.lastUse;
  if (value.buffer->space != MemorySpace::Device)
    return lastUse;
  if (auto wholes = assembled.find(value.buffer->temporary); wholes != assembled.end())
    for (const PlannedOperation *assembly : wholes->second)
      if (value.definition->time <= assembly->time)
        lastUse = std::max(lastUse, assembly->results[0].lastUse);
  return lastUse;
}

/// Returns the last use of a result as an index into the step's operations. `user` is the index
/// of the only user if the same planned operation emits it, and -1 otherwise.
int64_t LastUses::lastUseOf(const PlannedOperation &planned, size_t result, int64_t user,
                            ArrayRef<int64_t> counts) const {
  const auto end = static_cast<int64_t>(counts.size()) - 1;
  bool isWrite = !planned.written.empty();
  Buffer buffer = isWrite ? bufferOf(planned.written.front()) : *planned.results[result].buffer;
  if (buffer.fixedOffset)
    return -1;
  if (user >= 0)
    return user;
  auto own = transients.find(buffer.temporary);
  const bool isTransient = own != transients.end() && llvm::is_contained(own->second, buffer);
  const int64_t time = isTransient ? end : lastUseOf(planned.results[result]);
  return time == end ? counts.back() : std::max(counts[time], counts[planned.time]) - 1;
}

/// Returns the buffer of a variable.
Buffer LastUses::bufferOf(FlatSymbolRefAttr symbol) const {
  const auto &transients = function.getBuffers().transients;
  auto known = transients.find(symbol);
  return known == transients.end() ? Buffer{variables[symbol].offset} : known->second;
}
