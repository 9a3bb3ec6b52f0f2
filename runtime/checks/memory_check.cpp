// Compares the arena with a shadow copy.
#include "runtime/checks/memory_check.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {

/// Fill byte of dead memory.
static constexpr unsigned char nothing = 0xff;

static int64_t paddedEnd(const MtcTensor &tensor) {
  return tensor.offset + (tensor.bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

MemoryCheck::MemoryCheck(const MtcProgram &program, Device &device, int64_t arenaBytes)
    : program(program), device(device),
      copy(static_cast<size_t>(arenaBytes), static_cast<char>(nothing)) {
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (program.variables[i].initial != MTC_INITIAL_NONE &&
        program.variables[i].tensor.space == MTC_DEVICE)
      permanent.push_back(
          {program.variables[i].tensor.offset, paddedEnd(program.variables[i].tensor)});
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcTensor &tensor = program.inputs[i].tensor;
    permanent.push_back({tensor.offset, paddedEnd(tensor)});
    fill(permanent.back()); // The padding after a batch is never written.
    if (!program.staging)
      continue;
    staged.push_back({tensor.offset + program.staging, paddedEnd(tensor) + program.staging});
    fill(staged.back()); // A later batch may already be arriving there.
  }
}

const MtcFunction &MemoryCheck::functionOf(const MtcOperation &operation) const {
  for (uint32_t i = 0; i < program.function_count; ++i)
    if (const MtcFunction &function = program.functions[i];
        function.operations <= &operation &&
        &operation < function.operations + function.operation_count)
      return function;
  systemError("an operation of '", operation.nodes, "' is in no function of the program");
}

/// Updates the copy from the arena.
void MemoryCheck::refresh(const Range &range) {
  device.read(range.begin, range.end - range.begin,
              [&](const char *from, int64_t at, int64_t bytes) {
                std::memcpy(copy.data() + range.begin + at, from, static_cast<size_t>(bytes));
              });
}

void MemoryCheck::fill(const Range &range) {
  if (range.begin >= range.end)
    return;
  device.write(range.begin, range.end - range.begin, [](char *to, int64_t, int64_t bytes) {
    std::memset(to, nothing, static_cast<size_t>(bytes));
  });
  std::memset(copy.data() + range.begin, nothing, static_cast<size_t>(range.end - range.begin));
}

/// After a load, the runtime has written scalars and a batch, and before the first step also
/// variables.
void MemoryCheck::phase(Phase phase, int64_t, Clock::time_point, Clock::time_point) {
  if (phase != Phase::Load && phase != Phase::LoadValidation)
    return;
  for (const Range &range : permanent)
    refresh(range);
  if (isPrepared)
    return;
  isPrepared = true;
  std::vector<Range> used = permanent;
  used.insert(used.end(), staged.begin(), staged.end());
  std::sort(used.begin(), used.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const Range &range : used) {
    fill({at, range.begin});
    at = std::max(at, range.end);
  }
  fill({at, static_cast<int64_t>(copy.size())});
}

void MemoryCheck::operation(const OperationInfo &operation, Clock::time_point, Clock::time_point) {
  const MtcFunction &function = functionOf(*operation.source);
  for (uint32_t i = 0; i < operation.source->write_count; ++i) {
    const MtcWrite &write = operation.source->writes[i];
    const int64_t begin = write.offset + operation.iteration * write.stride;
    refresh({begin, begin + write.bytes});
  }
  compare(operation);
  const int64_t number = operation.source - function.operations;
  for (uint32_t i = 0; i < operation.source->write_count; ++i)
    if (const MtcWrite &write = operation.source->writes[i];
        operation.source->kind != MTC_REPEAT && // Its operations write the results.
        (write.last_use < 0 || write.last_use > number))
      checkComputed(operation, write);
  bury(function, operation);
}

/// Returns the index of the first element with all bits set; -1 if there is none.
template <typename Bits> static int64_t findNothing(const char *at, int64_t bytes) {
  for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(Bits)); ++i) {
    Bits element;
    std::memcpy(&element, at + i * static_cast<int64_t>(sizeof(Bits)), sizeof element);
    if (element == static_cast<Bits>(~Bits{}))
      return i;
  }
  return -1;
}

void MemoryCheck::checkComputed(const OperationInfo &operation, const MtcWrite &write) {
  const int64_t offset = write.offset + operation.iteration * write.stride;
  const char *at = copy.data() + offset;
  int64_t found = -1;
  switch (mtc_float_format(write.type).bits) {
  case 64:
    found = findNothing<uint64_t>(at, write.bytes);
    break;
  case 32:
    found = findNothing<uint32_t>(at, write.bytes);
    break;
  case 16:
    found = findNothing<uint16_t>(at, write.bytes);
    break;
  default: // All bits of integers and of 8-bit floats may be set.
    break;
  }
  if (found >= 0)
    systemError(
        operation.source->nodes, ": ", operation.label, " gives no number at element ", found,
        " of the result at byte ", offset,
        " of the arena: it has read bytes that hold no value, such as those of a value that "
        "is read no more, or it has not written the element");
}

void MemoryCheck::compare(const OperationInfo &operation) {
  auto isStaged = [&](int64_t byte) {
    return std::any_of(staged.begin(), staged.end(),
                       [&](const Range &range) { return range.begin <= byte && byte < range.end; });
  };
  const MtcFunction &function = functionOf(*operation.source);
  device.read(
      0, static_cast<int64_t>(copy.size()), [&](const char *from, int64_t at, int64_t bytes) {
        constexpr int64_t piece = 4096;
        for (int64_t i = 0; i < bytes; i += piece) {
          const int64_t end = std::min(i + piece, bytes);
          const char *expected = copy.data() + at;
          if (std::memcmp(from + i, expected + i, static_cast<size_t>(end - i)) == 0)
            continue;
          for (int64_t byte = i; byte < end; ++byte)
            if (from[byte] != expected[byte] && !isStaged(at + byte))
              systemError(operation.source->nodes, ": ", operation.label, " has changed byte ",
                          at + byte, " of the arena, which is none of its results: it ",
                          describe(function, operation.source - function.operations, at + byte));
        }
      });
}

/// Returns the ranges that are live after an operation, except variables and inputs, sorted by
/// address.
std::vector<MemoryCheck::Range> MemoryCheck::livingAfter(const MtcFunction &function,
                                                         int64_t number) const {
  std::vector<Range> living;
  for (int64_t i = 0; i <= number; ++i)
    for (uint32_t k = 0; k < function.operations[i].write_count; ++k)
      if (const MtcWrite &write = function.operations[i].writes[k]; write.last_use > number)
        living.push_back({write.offset, write.offset + write.bytes});
  std::sort(living.begin(), living.end(),
            [](const Range &a, const Range &b) { return a.begin < b.begin; });
  return living;
}

/// Fills the ranges that are dead after an operation; after the first operation of a function also
/// the values left by previous functions.
void MemoryCheck::bury(const MtcFunction &function, const OperationInfo &operation) {
  const int64_t number = operation.source - function.operations;
  // Later iterations of a repeat use the values that were computed before it.
  const MtcOperation *repeat = operation.repeat;
  const int64_t oldest =
      repeat && operation.iteration + 1 < repeat->iterations ? repeat - function.operations + 1 : 0;
  std::vector<Range> kept = livingAfter(function, number);
  std::vector<Range> dead;
  if (number == 0) {
    kept.insert(kept.end(), permanent.begin(), permanent.end());
    kept.insert(kept.end(), staged.begin(), staged.end());
    std::sort(kept.begin(), kept.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    dead.push_back({0, static_cast<int64_t>(copy.size())});
  }
  for (int64_t i = oldest; i <= number; ++i)
    for (uint32_t k = 0; k < function.operations[i].write_count; ++k)
      if (const MtcWrite &write = function.operations[i].writes[k]; write.last_use == number)
        dead.push_back({write.offset, write.offset + write.bytes});
  for (Range range : dead) {
    for (const Range &living : kept) {
      if (living.end <= range.begin || range.end <= living.begin)
        continue;
      fill({range.begin, living.begin});
      range.begin = std::max(range.begin, living.end);
    }
    fill(range);
  }
}

std::vector<MemoryCheck::Holder> MemoryCheck::holdersAfter(const MtcFunction &function,
                                                           int64_t number) const {
  std::vector<Holder> holders;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcTensor &tensor = program.variables[i].tensor;
    if (program.variables[i].initial != MTC_INITIAL_NONE && tensor.space == MTC_DEVICE)
      holders.push_back({{tensor.offset, tensor.offset + tensor.bytes},
                         text("the variable '", tensor.name, "'")});
  }
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcTensor &tensor = program.inputs[i].tensor;
    holders.push_back(
        {{tensor.offset, tensor.offset + tensor.bytes}, text("the input '", tensor.name, "'")});
  }
  for (int64_t i = 0; i <= number; ++i)
    for (uint32_t k = 0; k < function.operations[i].write_count; ++k) {
      const MtcWrite &write = function.operations[i].writes[k];
      if (write.last_use < number)
        continue;
      const bool isRead = write.last_use < static_cast<int64_t>(function.operation_count);
      holders.push_back({{write.offset, write.offset + write.bytes},
                         text("a result of '", function.operations[i].nodes, "', which ",
                              isRead ? text('\'', function.operations[write.last_use].nodes, '\'')
                                     : "the step's end",
                              " reads last")});
    }
  return holders;
}

/// Returns a description of the owner of a byte after an operation.
std::string MemoryCheck::describe(const MtcFunction &function, int64_t number, int64_t byte) const {
  const Holder *before = nullptr;
  const std::vector<Holder> holders = holdersAfter(function, number);
  for (const Holder &holder : holders) {
    if (holder.range.begin <= byte && byte < holder.range.end)
      return "belongs to " + holder.name;
    if (holder.range.end <= byte && (!before || before->range.end < holder.range.end))
      before = &holder;
  }
  if (!before)
    return "holds nothing";
  return text("holds nothing, ", byte - before->range.end, " bytes after ", before->name);
}

} // namespace mtc::runtime
