// Waits of the host for a device that exchanges values with other ranks.
#ifndef MTC_RUNTIME_DEVICES_GPU_RANK_WAITER_H
#define MTC_RUNTIME_DEVICES_GPU_RANK_WAITER_H

#include "runtime/collectives/ranks.h"
#include "runtime/devices/gpu/device_transport.h"

namespace mtc::runtime::gpu {

/// Polls the device, so that an error of the transport, or a rank that has died or stopped, is
/// noticed. The time limit of an exchange begins when the device runs it. While the host waits for
/// other ranks, the device is polled as well.
class RankWaiter final : public DeviceWaiter {
public:
  RankWaiter(Gpu &gpu, Ranks &ranks, DeviceTransport &transport, Stream compute);
  RankWaiter(const RankWaiter &) = delete;
  RankWaiter &operator=(const RankWaiter &) = delete;
  ~RankWaiter() override;

  /// If the time limit of an exchange ends, reports the silent ranks and ends all ranks.
  Result wait(const std::function<Result()> &query) override;
  /// Waits for all work of the device before it is closed. A rank that fails alone does not wait
  /// for messages of the others: after a short time, it aborts them.
  void finish();

private:
  Gpu &gpu;
  Ranks &ranks;
  DeviceTransport &transport;
  Stream compute;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_RANK_WAITER_H
