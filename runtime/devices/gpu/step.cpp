// Operations, one by one or as a CUDA graph.
#include "runtime/devices/gpu/step.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime::gpu {

static constexpr const char *graphFails = "the program's steps cannot be made a graph";

Step::Step(const StepContext &context, const MtcFunction &function)
    : gpu(context.gpu), stream(context.stream), ranks(context.ranks), transport(context.transport),
      streams(context.gpu, context.stream) {
  // End events of operations on streams.
  std::vector<const OwnedEvent *> ends(function.operation_count);
  for (uint32_t i = 0; i < function.operation_count; ++i) {
    const MtcOperation &source = function.operations[i];
    Prepared &operation = operations.emplace_back();
    for (uint32_t k = 0; k < source.operand_count; ++k)
      operation.operands.push_back(context.arena + static_cast<Address>(source.operands[k]));
    if (source.kind == MTC_CALL)
      prepareCall(context, operation, source);
    operation.info =
        describeOperation(context.program, source, context.operationCount++,
                          operation.call ? operation.call->implementation() : "kernels");
    if (source.kind == MTC_COPY)
      operation.copy.emplace(source, context.arena, context.hostArena);
    else if (source.kind == MTC_HOST_LAUNCH)
      operation.hostLaunch.emplace(context.program, source, context.hostArena, context.threads);
    else if (source.kind == MTC_TRANSFER)
      operation.transfer.emplace(context.program, source, context.arena, ranks, transport);
    else if (!operation.call)
      prepareLaunch(context, operation);
    if (source.stream != 0)
      ends[i] = streams.add(source.stream);
    for (uint32_t k = 0; k < source.wait_count; ++k)
      operation.waits.push_back(ends[static_cast<size_t>(source.waits[k])]);
  }
}

Step::~Step() {
  if (graph)
    gpu.driver.destroyExecutable(graph);
}

void Step::prepareLaunch(const StepContext &context, Prepared &operation) {
  const MtcOperation &source = *operation.info.source;
  const bool isKernel = source.kind == MTC_LAUNCH;
  const auto &code =
      *static_cast<const MtcGpuKernel *>(isKernel ? context.program.kernels[source.index].code
                                                  : context.program.calls[source.index].code);
  if (isKernel && context.program.kernels[source.index].may_fault) {
    operation.operands.push_back(context.faults + context.faulting.size() * sizeof(MtcFault));
    context.faulting.push_back(&source);
  }
  for (uint32_t i = 0; i < code.launch_count; ++i)
    operation.launches.push_back(
        {context.images.find(code, code.launches[i], source.nodes), &code.launches[i]});
}

/// Returns the addresses of a call's operands and results, without the scratch, which is last.
static std::vector<Address> buffersOf(const StepContext &context, const MtcOperation &source) {
  std::vector<Address> buffers;
  for (uint32_t k = 0; k + 1 < source.operand_count; ++k)
    buffers.push_back(context.arena + static_cast<Address>(source.operands[k]));
  return buffers;
}

static Address scratchOf(const StepContext &context, const MtcOperation &source) {
  return context.arena + static_cast<Address>(source.operands[source.operand_count - 1]);
}

void Step::prepareCall(const StepContext &context, Prepared &operation,
                       const MtcOperation &source) {
  const MtcCall &call = context.program.calls[source.index];
  try {
    operation.call = context.platform.prepare(call, {.buffers = buffersOf(context, source),
                                                     .scratch = scratchOf(context, source),
                                                     .images = &context.images,
                                                     .nodes = source.nodes});
  } catch (const Failure &failure) {
    systemError(source.nodes, ": ", failure.what());
  }
  if (!operation.call && !call.code)
    systemError(source.nodes, ": no library of this target computes ", call.kind);
}

void Step::enqueue(Prepared &operation, bool isObserved) {
  const MtcOperation &source = *operation.info.source;
  if (source.stream != 0 && !isObserved)
    return streams.enqueue(operation.waits, source.nodes,
                           [&](Stream target) { enqueueOn(target, operation); });
  if (!isObserved)
    for (const OwnedEvent *wait : operation.waits)
      gpu.check(gpu.driver.letStreamWait(stream, *wait, 0), "a stream cannot wait for another");
  enqueueOn(stream, operation);
}

void Step::enqueueOn(Stream target, Prepared &operation) {
  auto checkOne = [&](Result result) {
    if (result != success)
      gpu.check(
          result,
          text(operation.info.source->nodes, ": ", operation.info.label, " cannot be run").c_str());
  };
  if (operation.call)
    return operation.call->enqueue(target);
  if (operation.copy)
    return checkOne(operation.copy->enqueue(gpu.driver, target));
  if (operation.hostLaunch)
    return checkOne(operation.hostLaunch->enqueue(gpu.driver, target));
  if (operation.transfer)
    return operation.transfer->enqueue(gpu, target);
  for (const Launch &launch : operation.launches)
    checkOne(enqueueLaunch(gpu.driver, launch.function, *launch.source, operation.operands.data(),
                           operation.operands.size() * sizeof(Address), target));
}

void Step::enqueueAll() {
  for (Prepared &operation : operations)
    enqueue(operation);
  streams.join();
}

void Step::beginTransfers() {
  for (const Prepared &operation : operations) {
    if (!operation.transfer)
      continue;
    if (operation.transfer->hasMessages())
      transport->connect();
    if (ranks)
      operation.transfer->count(*ranks);
  }
}

void Step::run() {
  if (operations.empty())
    return;
  beginTransfers();
  if (!std::exchange(hasRun, true))
    return enqueueAll();
  if (!graph)
    capture();
  gpu.check(gpu.driver.launchGraph(graph, stream), graphFails);
}

void Step::capture() {
  gpu.check(gpu.driver.beginCapture(stream, relaxedCapture), graphFails);
  enqueueAll();
  Graph captured = nullptr;
  gpu.check(gpu.driver.endCapture(stream, &captured), graphFails);
  Result result = gpu.driver.instantiate(&graph, captured, 0);
  gpu.driver.destroyGraph(captured);
  gpu.check(result, graphFails);
}

void Step::observe(const std::vector<Observer *> &observers) {
  while (borders.size() <= operations.size())
    borders.emplace_back(gpu.driver, timedEvent);
  beginTransfers();
  gpu.waitFor(stream, "the GPU failed");
  const auto begin = Observer::Clock::now();
  auto record = [&](size_t border) {
    gpu.check(gpu.driver.recordEvent(borders[border], stream), "times cannot be taken");
  };
  auto wait = [&] { gpu.waitFor(stream, "the GPU failed while it ran the program"); };
  auto timeOf = [&](size_t border) {
    float milliseconds = 0;
    gpu.check(gpu.driver.elapsed(&milliseconds, borders[0], borders[border]),
              "times cannot be taken");
    return begin + std::chrono::duration_cast<Observer::Clock::duration>(
                       std::chrono::duration<double, std::milli>(milliseconds));
  };
  auto tell = [&](size_t operation) {
    for (Observer *observer : observers)
      observer->operation(operations[operation].info, timeOf(operation), timeOf(operation + 1));
  };
  const bool inTurn = std::any_of(observers.begin(), observers.end(),
                                  [](const Observer *each) { return each->looksAtArena(); });
  for (size_t i = 0; i < operations.size(); ++i) {
    record(i);
    enqueue(operations[i], /*isObserved=*/true);
    if (!inTurn)
      continue;
    record(i + 1);
    wait();
    tell(i);
  }
  if (inTurn)
    return;
  record(operations.size());
  wait();
  for (size_t i = 0; i < operations.size(); ++i)
    tell(i);
}

} // namespace mtc::runtime::gpu
