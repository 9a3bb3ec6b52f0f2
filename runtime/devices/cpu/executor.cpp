// Runs launches, library calls and copies in program order.
#include "runtime/devices/cpu/executor.h"

#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/observer.h"
#include "runtime/support/failure.h"

#include <cassert>
#include <cstring>
#include <utility>

namespace mtc::runtime {

Executor::Executor(const MtcProgram &program, const Arenas &arenas, int threads,
                   std::vector<Observer *> observers, Ranks *given)
    : program(program), arenas(arenas), threads(threads), observers(std::move(observers)),
      ranks(given ? *given : alone.emplace(nullptr)), calls(program.call_count),
      faults(static_cast<size_t>(threads)), streams(arenas) {
  if (arenas.disk)
    bounce.emplace();
  setLibraryThreads(threads);
  for (uint32_t i = 0; i < program.function_count; ++i)
    functions.push_back(prepare(program.functions[i]));
  messages.reserve(program.message_count);
  for (uint32_t i = 0; i < program.message_count; ++i)
    messages.emplace_back(program.messages[i], arenas.at(MTC_DEVICE, 0), ranks);
  // The rank for which this one waits may itself wait for a message that has been started here.
  if (!messages.empty())
    ranks.whileWaiting([this] { progress(); });
}

Executor::~Executor() {
  if (!messages.empty())
    ranks.whileWaiting(nullptr);
}

LibraryCall &Executor::prepareCall(const MtcOperation &operation) {
  auto &prepared = calls[operation.index];
  if (prepared)
    return *prepared;
  const MtcCall &planned = program.calls[operation.index];
  auto create = [&](const CallLibrary &library) {
    return LibraryCall::create(library, planned.kind, planned.description, threads);
  };
  prepared = create(linkedLibrary());
  // The library may support fewer calls on this processor than where the program was compiled, or
  // need more scratch.
  if (!prepared || prepared->scratchBytes() > planned.scratch_bytes)
    if (auto builtIn = create(builtInLibrary());
        builtIn && (!prepared || builtIn->scratchBytes() <= planned.scratch_bytes))
      prepared = std::move(builtIn);
  if (!prepared)
    systemError(operation.nodes, ": this machine's libraries have no ", planned.kind,
                " of its element type; compile the program on this machine");
  if (prepared->scratchBytes() > planned.scratch_bytes)
    systemError(operation.nodes, ": ", planned.kind, " needs ", prepared->scratchBytes(),
                " bytes of scratch on this machine with ", threads, " threads; ",
                planned.scratch_bytes, " were planned where the program was compiled, for up to ",
                program.threads, " threads. Compile it on this machine");
  return *prepared;
}

std::vector<PreparedOperation> Executor::prepare(const MtcFunction &function) {
  if (observers.empty())
    streams.prepare(function);
  std::vector<PreparedOperation> result;
  result.reserve(function.operation_count);
  for (uint32_t i = 0; i < function.operation_count; ++i) {
    const MtcOperation &source = function.operations[i];
    PreparedOperation operation = {};
    if (source.kind == MTC_LAUNCH)
      operation.kernel = &program.kernels[source.index];
    else if (source.kind == MTC_CALL)
      operation.call = &prepareCall(source);
    operation.info =
        describeOperation(program, source, preparedCount++,
                          operation.call ? operation.call->implementation() : std::string());
    // Launches and calls leave the memory spaces at 0, MTC_DEVICE.
    for (uint32_t k = 0; k < source.operand_count; ++k)
      operation.operands.push_back(
          arenas.at(k == 0 ? source.source_space : source.destination_space, source.operands[k]));
    if (source.kind == MTC_TRANSFER)
      operation.transfer = std::make_unique<Transfer>(program, source, operation.operands, ranks);
    result.push_back(std::move(operation));
  }
  return result;
}

void Executor::startTransfer(Transfer &transfer) {
  transfer.start();
  transfers.push_back(&transfer);
}

/// Waits for a transfer and all earlier ones, since transfers end in order.
void Executor::waitForTransfer(const Transfer &transfer) {
  while (!transfers.empty()) {
    Transfer *first = transfers.front();
    transfers.erase(transfers.begin());
    first->wait();
    if (first == &transfer)
      return;
  }
}

/// Waits for the transfers on which an operation depends. Also waits for the copies on which it
/// depends, unless the operation is itself a copy, because the thread of a copy waits for them.
void Executor::waitForOperations(std::vector<PreparedOperation> &operations,
                                 const MtcOperation &waiting) {
  const bool isCopy = waiting.stream != 0 && waiting.kind == MTC_COPY;
  for (uint32_t k = 0; k < waiting.wait_count; ++k) {
    const auto number = static_cast<size_t>(waiting.waits[k]);
    if (Transfer *transfer = operations[number].transfer.get()) {
      waitForTransfer(*transfer);
      if (isCopy)
        streams.markEnded(number);
    } else if (!isCopy) {
      streams.wait(number);
    }
  }
}

/// Advances what is in progress: MPI advances messages only in calls.
void Executor::progress() {
  for (Transfer *transfer : transfers)
    transfer->progress();
  for (StageMessage &message : messages)
    message.progress();
}

void Executor::run(std::vector<PreparedOperation> &operations) {
  if (observers.empty()) {
    bool hasStreams = false;
    for (size_t i = 0; i < operations.size(); ++i) {
      const MtcOperation &source = *operations[i].info.source;
      progress();
      waitForOperations(operations, source);
      if (source.stream != 0 && source.kind == MTC_COPY) {
        hasStreams = true;
        streams.enqueue(source, i);
        continue;
      }
      if (source.kind == MTC_REPEAT) {
        repeat(operations, i);
        i += source.index;
      } else if (source.stream != 0) {
        startTransfer(*operations[i].transfer);
      } else {
        runOne(operations[i]);
      }
    }
    for (Transfer *transfer : transfers)
      transfer->wait();
    transfers.clear();
    if (hasStreams)
      streams.join();
    return;
  }
  for (size_t i = 0; i < operations.size(); ++i) {
    const MtcOperation &source = *operations[i].info.source;
    if (source.kind != MTC_REPEAT) {
      observeOne(operations[i]);
      continue;
    }
    // Of the repeat itself, only the ranges that its iterations write are of interest.
    const auto now = Observer::Clock::now();
    for (Observer *observer : observers)
      if (observer->looksAtArena())
        observer->operation(operations[i].info, now, now);
    repeat(operations, i);
    i += source.index;
  }
}

void Executor::observeOne(PreparedOperation &operation) {
  auto begin = Observer::Clock::now();
  runOne(operation);
  auto end = Observer::Clock::now();
  for (Observer *observer : observers)
    observer->operation(operation.info, begin, end);
}

/// Runs the iterations of the repeat at `first`.
void Executor::repeat(std::vector<PreparedOperation> &operations, size_t first) {
  const MtcOperation &header = *operations[first].info.source;
  for (int64_t iteration = 0; iteration < header.iterations; ++iteration)
    for (size_t i = first + 1; i <= first + header.index; ++i) {
      PreparedOperation &operation = operations[i];
      const MtcOperation &source = *operation.info.source;
      operation.info.repeat = &header;
      operation.info.iteration = iteration;
      for (uint32_t k = 0; source.strides && k < source.operand_count; ++k)
        operation.operands[k] =
            arenas.at(MTC_DEVICE, source.operands[k] + iteration * source.strides[k]);
      if (observers.empty())
        runOne(operation);
      else
        observeOne(operation);
    }
}

void Executor::runOne(PreparedOperation &operation) {
  switch (operation.info.source->kind) {
  case MTC_LAUNCH:
    return launch(operation);
  case MTC_CALL: // The scratch follows the operands and results.
    return operation.call->run(operation.operands.data(), operation.operands.back());
  case MTC_COPY:
    return copy(operation);
  case MTC_TRANSFER:
    operation.transfer->start();
    return operation.transfer->wait();
  default:
    assert(false && "an operation that the ABI does not have");
  }
}

void Executor::copy(PreparedOperation &operation) {
  const MtcOperation &source = *operation.info.source;
  if (source.source_space == MTC_DISK || source.destination_space == MTC_DISK)
    return copyBetween(arenas, source, &*bounce);
  parallelFor(threads, source.bytes, 1 << 18, [&](int, int64_t begin, int64_t end) {
    std::memcpy(operation.operands[1] + begin, operation.operands[0] + begin,
                static_cast<size_t>(end - begin));
  });
}

void Executor::launch(PreparedOperation &operation) {
  const auto &code = *static_cast<const MtcCpuKernel *>(operation.kernel->code);
  for (uint32_t i = 0; i < code.stage_count; ++i) {
    const MtcCpuStage &stage = code.stages[i];
    parallelFor(threads, stage.extent, stage.grain, [&](int part, int64_t begin, int64_t end) {
      stage.function(operation.operands.data(), begin, end, &faults[static_cast<size_t>(part)]);
    });
  }
  if (!operation.kernel->may_fault)
    return;
  for (MtcFault &fault : faults)
    if (fault.raised)
      reportFault(*operation.info.source, fault);
}

} // namespace mtc::runtime
