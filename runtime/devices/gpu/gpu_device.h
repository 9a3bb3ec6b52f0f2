// A GPU with an arena in its memory, and functions that run asynchronously to the host.
#ifndef MTC_RUNTIME_DEVICES_GPU_GPU_DEVICE_H
#define MTC_RUNTIME_DEVICES_GPU_GPU_DEVICE_H

#include "runtime/devices/device.h"
#include "runtime/devices/gpu/batch_transfer.h"
#include "runtime/devices/gpu/gpu.h"
#include "runtime/devices/gpu/handles.h"
#include "runtime/devices/gpu/platform.h"
#include "runtime/devices/gpu/rank_waiter.h"
#include "runtime/devices/gpu/small_values.h"
#include "runtime/devices/gpu/step.h"
#include "runtime/devices/gpu/transfer.h"

#include <memory>
#include <optional>
#include <vector>

namespace mtc::runtime::gpu {

class GpuDevice final : public Device {
public:
  /// See openDevice.
  GpuDevice(const MtcProgram &program, const DeviceChoice &choice,
            std::unique_ptr<Platform> platform);
  ~GpuDevice() override;

  void onThisThread(const std::function<void()> &action) override;
  void write(ArenaAddress to, int64_t bytes, const Fill &fill) override;
  void read(ArenaAddress from, int64_t bytes, const Use &use) override;
  void copy(ArenaAddress from, ArenaAddress to, int64_t bytes) override;
  void writeScalar(int64_t offset, const void *value, int64_t bytes) override;
  int64_t request(int64_t offset, int64_t bytes) override;
  void receive(int64_t request, void *to) override;
  const std::vector<char *> &batchBuffers(bool) override { return batches->batchBuffers(); }
  void takeBatch(bool) override { batches->take(); }
  void prepare(std::vector<Observer *> observers) override;
  void observe(Observer &observer) override { observers.push_back(&observer); }
  void call(uint32_t function) override;
  void wait() override;
  int queuedSteps() const override { return observers.empty() ? 1 : 0; }
  std::optional<double> copyThroughput() override;
  std::optional<double> contractionThroughput(const MtcContraction &plain) override;
  std::optional<double> registerThroughput(uint32_t) override { return std::nullopt; }
  std::vector<MemoryUse> memoryOutsideArena() override;

private:
  Address at(int64_t offset) const { return arena.address() + static_cast<Address>(offset); }
  void zeroVariables();

  const MtcProgram &program;
  int64_t arenaBytes;
  int threads; ///< of kernels on the host
  Gpu gpu;
  Gpu::Memory before; ///< memory of the device before the arena was allocated
  OwnedStream compute;
  PinnedMemory hostArena;
  DeviceMemory arena, faults;
  Transfer transfer;
  ScalarWriter scalars;
  KernelImages images;
  std::unique_ptr<Platform> platform;
  std::unique_ptr<DeviceTransport> transport; ///< null if the program has one rank
  std::optional<RankWaiter> waiter;           ///< if there are other ranks
  std::vector<Observer *> observers;
  std::optional<BatchTransfer> batches;
  std::vector<const MtcOperation *> faulting;
  std::optional<ResultReader> results;
  std::vector<std::unique_ptr<Step>> steps; ///< by function
};

/// Returns the bytes read and written per second, and the operations per second: see Device.
std::optional<double> measureCopy(const Gpu &gpu, Stream stream);
std::optional<double> measureContraction(const Gpu &gpu, Platform &platform, Stream stream,
                                         const MtcContraction &plain);

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_GPU_DEVICE_H
