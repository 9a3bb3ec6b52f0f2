// Launches, contractions and copies, in the program's order.
#include "runtime/executor.h"

#include "runtime/element_type.h"
#include "runtime/failure.h"
#include "runtime/observer.h"
#include "runtime/parallel.h"

#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

Executor::Executor(const MtcProgram &program, char *arena, int threads,
                   std::vector<Observer *> observers)
    : program(program), threads(threads), observers(std::move(observers)),
      contractions(program.contraction_count), faults(static_cast<size_t>(threads)) {
  setLibraryThreads(threads);
  microStepOperations = prepare(program.micro_step, arena);
  updateOperations = prepare(program.update, arena);
  evaluateOperations = prepare(program.evaluate, arena);
}

Executor::~Executor() = default;

/// Both operands and the result, each counted once; a result that is added to, twice.
static int64_t contractionBytes(const MtcContraction &c) {
  int64_t lhs = c.m * c.k, rhs = c.k * c.n, out = c.m * c.n * (c.accumulate ? 2 : 1);
  for (uint32_t i = 0; i < c.batch_rank; ++i) {
    // A stride of 0: the operand is the same along this axis.
    lhs *= c.lhs_strides[i] ? c.batch[i] : 1;
    rhs *= c.rhs_strides[i] ? c.batch[i] : 1;
    out *= c.batch[i];
  }
  return (lhs + rhs + out) * typeBytes(c.type);
}

Contraction &Executor::contraction(const MtcOperation &operation) {
  auto &prepared = contractions[operation.index];
  if (prepared)
    return *prepared;
  const MtcContraction &description = program.contractions[operation.index];
  prepared = Contraction::create(description, usefulThreads(description, threads));
  if (!prepared)
    systemError(operation.nodes, ": this machine's oneDNN has no contraction of ",
                typeName(description.type));
  if (prepared->scratchBytes() > description.scratch_bytes)
    systemError(operation.nodes, ": a contraction needs ", prepared->scratchBytes(),
                " bytes of scratch on this machine with ", threads, " threads; ",
                description.scratch_bytes,
                " were planned where the program was compiled, for up to ", program.threads,
                " threads. Compile it on this machine");
  return *prepared;
}

std::vector<PreparedOperation> Executor::prepare(const MtcFunction &function, char *arena) {
  std::vector<PreparedOperation> result;
  result.reserve(function.operation_count);
  for (uint32_t i = 0; i < function.operation_count; ++i) {
    const MtcOperation &source = function.operations[i];
    PreparedOperation operation{&source, nullptr, nullptr,          {},
                                "copy",  0,       2 * source.bytes, preparedCount++};
    for (uint32_t k = 0; k < source.operand_count; ++k)
      operation.operands.push_back(arena + source.operands[k]);
    if (source.kind == MTC_LAUNCH) {
      operation.kernel = &program.kernels[source.index];
      operation.label = operation.kernel->name;
      operation.flops = operation.kernel->flops;
      operation.bytes = operation.kernel->bytes;
    } else if (source.kind == MTC_CONTRACT) {
      assert(operation.operands.size() >= 3 && "a contraction has lhs, rhs, out and scratch");
      operation.operands.resize(4, nullptr); // Scratch may be left out where none is needed.
      operation.contraction = &contraction(source);
      operation.label = "contraction " + operation.contraction->implementation();
      operation.flops = contractionFlops(program.contractions[source.index]);
      operation.bytes = contractionBytes(program.contractions[source.index]);
    }
    result.push_back(std::move(operation));
  }
  return result;
}

void Executor::run(std::vector<PreparedOperation> &operations) {
  if (observers.empty()) {
    for (PreparedOperation &operation : operations)
      runOne(operation);
    return;
  }
  for (PreparedOperation &operation : operations) {
    auto begin = Observer::Clock::now();
    runOne(operation);
    auto end = Observer::Clock::now();
    for (Observer *observer : observers)
      observer->operation(operation, begin, end);
  }
}

void Executor::runOne(PreparedOperation &operation) {
  switch (operation.source->kind) {
  case MTC_LAUNCH:
    return launch(operation);
  case MTC_CONTRACT:
    return operation.contraction->run(operation.operands[0], operation.operands[1],
                                      operation.operands[2], operation.operands[3]);
  case MTC_COPY:
    parallelFor(threads, operation.source->bytes, 1 << 18, [&](int, int64_t begin, int64_t end) {
      std::memcpy(operation.operands[1] + begin, operation.operands[0] + begin,
                  static_cast<size_t>(end - begin));
    });
    return;
  default:
    assert(false && "an operation that the ABI does not have");
  }
}

void Executor::launch(PreparedOperation &operation) {
  const MtcKernel &kernel = *operation.kernel;
  parallelFor(threads, kernel.extent, kernel.grain, [&](int part, int64_t begin, int64_t end) {
    kernel.function(operation.operands.data(), begin, end, &faults[static_cast<size_t>(part)]);
  });
  if (!kernel.may_fault)
    return;
  for (MtcFault &fault : faults)
    if (fault.raised)
      reportFault(operation, fault);
}

void Executor::reportFault(const PreparedOperation &operation, const MtcFault &fault) {
  userError(operation.source->nodes, ": index ", fault.index,
            " is outside its operand, which takes ", -fault.extent, " to ", fault.extent - 1,
            "; check the data and the model");
}

} // namespace mtc::runtime
