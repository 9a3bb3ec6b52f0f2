// The target `cpu`: arenas in process memory, and functions that run synchronously.
#ifndef MTC_RUNTIME_DEVICES_CPU_CPU_DEVICE_H
#define MTC_RUNTIME_DEVICES_CPU_CPU_DEVICE_H

#include "runtime/devices/cpu/arena.h"
#include "runtime/devices/cpu/executor.h"
#include "runtime/devices/device.h"

#include <array>
#include <optional>

namespace mtc::runtime {

class CpuDevice final : public Device {
public:
  CpuDevice(const MtcProgram &program, const DeviceChoice &choice);

  void onThisThread(const std::function<void()> &action) override;
  void write(ArenaAddress to, int64_t bytes, const Fill &fill) override;
  void read(ArenaAddress from, int64_t bytes, const Use &use) override;
  void copy(ArenaAddress from, ArenaAddress to, int64_t bytes) override;
  void writeScalar(int64_t offset, const void *value, int64_t bytes) override;
  int64_t request(int64_t offset, int64_t bytes) override;
  void receive(int64_t request, void *to) override;
  const std::vector<char *> &batchBuffers(bool ahead) override {
    return ahead ? stagedInputs : inputs;
  }
  void takeBatch(bool ahead) override;
  void prepare(std::vector<Observer *> observers) override;
  void observe(Observer &observer) override { executor->observe(observer); }
  void call(uint32_t function) override { executor->call(function); }
  void startMessage(uint32_t message) override { executor->startMessage(message); }
  void waitForMessage(uint32_t message) override { executor->waitForMessage(message); }
  void wait() override {}
  int queuedSteps() const override { return 0; }
  DiskTraffic diskTraffic() const override;
  std::optional<double> copyThroughput() override;
  std::optional<double> contractionThroughput(const MtcContraction &plain) override;
  std::optional<double> registerThroughput(uint32_t type) override;
  std::vector<MemoryUse> memoryOutsideArena() override;

private:
  struct Request {
    uint64_t value;
    int64_t bytes;
  };

  const MtcProgram &program;
  int threads;
  Arena arena, pinnedHostArena, hostArena;
  std::vector<char *> inputs, stagedInputs;
  std::optional<StripedFile> disk;
  std::optional<BouncePages> bounce; ///< if the program has a disk arena
  Arenas arenas;
  std::optional<Executor> executor;
  std::array<Request, 16> results{};
  int64_t requests = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_CPU_DEVICE_H
