// A query of the device as an exchange with a time limit.
#include "runtime/devices/gpu/rank_waiter.h"

#include "runtime/support/failure.h"

#include <exception>

namespace mtc::runtime::gpu {
namespace {

class DeviceQuery final : public Exchange {
public:
  /// `transport` is null if its errors are to be ignored.
  DeviceQuery(DeviceTransport *transport, const std::function<Result()> &query)
      : transport(transport), query(query) {}

  void start() override {}
  bool poll() override {
    result = query();
    if (result == notReady && transport)
      transport->check();
    return result != notReady;
  }
  std::vector<int> pending() const override { return {}; }
  bool restartsLimit() override { return transport && transport->hasAdvanced(); }

  Result result = notReady;

private:
  DeviceTransport *transport;
  const std::function<Result()> &query;
};

} // namespace

RankWaiter::RankWaiter(Gpu &gpu, Ranks &ranks, DeviceTransport &transport, Stream compute)
    : gpu(gpu), ranks(ranks), transport(transport), compute(compute) {
  gpu.setWaiter(this);
  ranks.whileWaiting([this] {
    if (this->gpu.driver.queryStream(this->compute) == notReady)
      this->transport.check();
  });
}

RankWaiter::~RankWaiter() {
  ranks.whileWaiting(nullptr);
  gpu.setWaiter(nullptr);
}

Result RankWaiter::wait(const std::function<Result()> &query) {
  DeviceQuery exchange(&transport, query);
  if (ranks.waitFor(exchange))
    return exchange.result;
  ranks.reportSilence(ranks.findSilent(), transport.running());
  transport.abort();
  ranks.abort(exitSystemFault);
}

void RankWaiter::finish() {
  const std::function<Result()> query = [this] { return gpu.driver.queryStream(compute); };
  if (!std::uncaught_exceptions()) {
    wait(query);
    return;
  }
  DeviceQuery exchange(nullptr, query);
  if (!ranks.waitBriefly(exchange))
    transport.abort();
}

} // namespace mtc::runtime::gpu
