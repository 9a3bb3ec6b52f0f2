// Allocates memory on construction and prepares functions on demand.
#include "runtime/devices/gpu/gpu_device.h"

#include "runtime/support/failure.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mtc::runtime::gpu {

/// Returns the size of the fault records: one per operation, in all functions, that may fault.
static int64_t faultBytes(const MtcProgram &program) {
  int64_t bytes = 0;
  for (uint32_t f = 0; f < program.function_count; ++f)
    for (uint32_t i = 0; i < program.functions[f].operation_count; ++i)
      if (const MtcOperation &operation = program.functions[f].operations[i];
          operation.kind == MTC_LAUNCH && program.kernels[operation.index].may_fault)
        bytes += static_cast<int64_t>(sizeof(MtcFault));
  return bytes;
}

static DeviceMemory allocate(const Gpu &gpu, int64_t needed) {
  const int64_t free = gpu.memory().free;
  DeviceMemory memory;
  if (free >= needed)
    memory = DeviceMemory(gpu.driver, needed);
  if (needed > 0 && !memory.address())
    systemError("the program needs ", needed, " bytes (", needed >> 20,
                " MiB) of the GPU's memory, planned when it was compiled; ", free, " bytes (",
                free >> 20, " MiB) of ", gpu.name(),
                " are free; end other programs on it, choose another one by --device, or compile "
                "for less with --memory");
  return memory;
}

/// Allocates the arena in pinned memory. The system may end other processes, or this one, before
/// the driver reports that it has no more memory to lock, so that the size is checked first.
static PinnedMemory allocatePinned(const Gpu &gpu, int64_t needed) {
  const int64_t free = lockableMemory();
  if (free >= 0 && needed > free)
    systemError("the program needs ", needed, " bytes (", needed >> 20,
                " MiB) of pinned host memory, planned when it was compiled; ", free, " bytes (",
                free >> 20,
                " MiB) are available without swap; free some memory, or offload less: compile with "
                "a larger --memory or --offload none");
  return PinnedMemory(gpu.driver, needed);
}

GpuDevice::GpuDevice(const MtcProgram &program, const DeviceChoice &choice,
                     std::unique_ptr<Platform> target)
    : Device(choice.ranks), program(program), arenaBytes(choice.arenaBytes),
      threads(choice.threads),
      gpu(target->openDriver(), choice.name, choice.ranks ? choice.ranks->rankOnMachine() : 0),
      before(gpu.memory()), compute(gpu.driver),
      hostArena(allocatePinned(gpu, program.pinned_host_arena_bytes)),
      arena(choice.memory ? DeviceMemory(reinterpret_cast<Address>(choice.memory))
                          : allocate(gpu, arenaBytes)),
      faults(allocate(gpu, faultBytes(program))), transfer(gpu, compute), scalars(gpu, compute),
      images(gpu, target->chooseCode(gpu)), platform(std::move(target)) {
  if (choice.ranks && program.collective_count)
    transport = openDeviceTransport(gpu, *choice.ranks);
  if (transport && choice.ranks->count() > 1)
    waiter.emplace(gpu, *choice.ranks, *transport, compute);
  zeroVariables();
}

void GpuDevice::onThisThread(const std::function<void()> &action) {
  gpu.makeCurrent();
  action();
}

GpuDevice::~GpuDevice() {
  if (waiter)
    waiter->finish();
  gpu.driver.waitForStream(compute);
}

/// Zeroes the variables. Steps write all other values before they read them. An update that treats
/// variables as one flat tensor also reads the padding between them, up to the next multiple of
/// MTC_ALIGNMENT.
void GpuDevice::zeroVariables() {
  auto zero = [&](Address to, int64_t bytes) {
    gpu.check(gpu.driver.fillBytes(to, 0, static_cast<size_t>(bytes), compute),
              "the GPU's memory cannot be written");
  };
  if (hostArena.data())
    std::memset(hostArena.data(), 0, static_cast<size_t>(program.pinned_host_arena_bytes));
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.tensor.space != MTC_DEVICE)
      continue;
    const int64_t padded =
        (variable.tensor.bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
    if (variable.initial != MTC_INITIAL_NONE && padded > 0)
      zero(at(variable.tensor.offset), std::min(padded, arenaBytes - variable.tensor.offset));
  }
  if (faults.address())
    zero(faults.address(), faultBytes(program));
}

void GpuDevice::write(ArenaAddress to, int64_t bytes, const Fill &fill) {
  if (to.space == MTC_DEVICE)
    return transfer.write(at(to.offset), bytes, fill);
  wait(); // Steps copy to and from the host arena.
  fill(hostArena.data() + to.offset, 0, bytes);
}

void GpuDevice::read(ArenaAddress from, int64_t bytes, const Use &use) {
  wait();
  if (from.space == MTC_DEVICE)
    return transfer.read(at(from.offset), bytes, use);
  use(hostArena.data() + from.offset, 0, bytes);
}

void GpuDevice::copy(ArenaAddress source, ArenaAddress destination, int64_t bytes) {
  if (source.space != MTC_DEVICE || destination.space != MTC_DEVICE)
    return read(source, bytes, [&](const char *from, int64_t begin, int64_t count) {
      write(destination + begin, count, [&](char *to, int64_t piece, int64_t part) {
        std::memcpy(to, from + piece, static_cast<size_t>(part));
      });
    });
  const int64_t from = source.offset, to = destination.offset;
  gpu.check(gpu.driver.copyOnDevice(at(to), at(from), static_cast<size_t>(bytes), compute),
            "the GPU's memory cannot be copied");
}

void GpuDevice::writeScalar(int64_t offset, const void *value, int64_t bytes) {
  scalars.write(at(offset), value, bytes);
}

int64_t GpuDevice::request(int64_t offset, int64_t bytes) {
  return results->request(at(offset), bytes);
}

void GpuDevice::receive(int64_t request, void *to) { results->receive(request, to); }

void GpuDevice::prepare(std::vector<Observer *> told) {
  observers = std::move(told);
  batches.emplace(gpu, program, arena.address(), compute);
  size_t operationCount = 0;
  const StepContext context = {.gpu = gpu,
                               .program = program,
                               .images = images,
                               .platform = *platform,
                               .stream = compute,
                               .arena = arena.address(),
                               .hostArena = hostArena.data(),
                               .threads = threads,
                               .faults = faults.address(),
                               .faulting = faulting,
                               .operationCount = operationCount,
                               .ranks = ranks(),
                               .transport = transport.get()};
  for (uint32_t i = 0; i < program.function_count; ++i)
    steps.push_back(std::make_unique<Step>(context, program.functions[i]));
  results.emplace(gpu, compute, faults.address(), faulting);
}

void GpuDevice::call(uint32_t function) {
  if (observers.empty())
    steps[function]->run();
  else
    steps[function]->observe(observers);
}

void GpuDevice::wait() {
  if (results)
    results->wait();
  gpu.waitFor(compute, "the GPU failed");
}

std::optional<double> GpuDevice::copyThroughput() { return measureCopy(gpu, compute); }

std::optional<double> GpuDevice::contractionThroughput(const MtcContraction &plain) {
  return measureContraction(gpu, *platform, compute, plain);
}

std::vector<MemoryUse> GpuDevice::memoryOutsideArena() {
  const Gpu::Memory now = gpu.memory();
  const ProcessMemory host = processMemory();
  int64_t pinned = Transfer::pinnedBytes() + ScalarWriter::pinnedBytes();
  if (batches)
    pinned += batches->pinnedBytes() + results->pinnedBytes();
  const std::optional<MemoryUse> messages = transport ? transport->memory() : std::nullopt;
  std::vector<MemoryUse> uses = {
      {"GPU: code, graphs and libraries",
       std::max<int64_t>(0, before.free - now.free - arenaBytes - (messages ? messages->bytes : 0)),
       text("of ", gpu.name(), " with ", now.total, " bytes, ", before.free,
            " were free before the arena was allocated, ", now.free,
            " are now; the rest is the arena, the images of kernels, the libraries' kernels and "
            "graphs of launches")},
      {"GPU: context and others", now.total - before.free,
       "what the driver takes for a process, and other processes on the GPU"},
      {"pinned memory of the host", pinned,
       "batches, scalars and pieces of files on their way between host and GPU"},
      {"heap and stacks", host.anonymous,
       "of the host: the driver and its libraries, buffers of files; the arena is the GPU's"},
      {"code and libraries", host.fileBacked,
       "pages of the program, the driver and its libraries, and the C and C++ libraries; shared "
       "and "
       "reclaimable"}};
  if (messages)
    uses.insert(uses.begin() + 1, *messages);
  if (program.pinned_host_arena_bytes)
    uses.push_back(
        {"arena in pinned memory of the host", program.pinned_host_arena_bytes, otherArenasReason});
  return uses;
}

} // namespace mtc::runtime::gpu
