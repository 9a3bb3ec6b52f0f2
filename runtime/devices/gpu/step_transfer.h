// Transfers of a function between ranks.
#ifndef MTC_RUNTIME_DEVICES_GPU_STEP_TRANSFER_H
#define MTC_RUNTIME_DEVICES_GPU_STEP_TRANSFER_H

#include "runtime/collectives/ranks.h"
#include "runtime/devices/gpu/device_transport.h"

#include <memory>
#include <vector>

namespace mtc::runtime::gpu {

/// An MTC_TRANSFER: messages to and from other ranks, and copies within this rank.
class StepTransfer {
public:
  /// `transport` is null if the program has one rank; `ranks` may then be null too.
  StepTransfer(const MtcProgram &program, const MtcOperation &operation, Address arena,
               Ranks *ranks, DeviceTransport *transport);

  bool hasMessages() const { return exchange != nullptr; }
  /// Throws a system error if the driver or the transport fails.
  void enqueue(const Gpu &gpu, Stream stream) const;
  /// Counts the bytes that a run sends to other ranks.
  void count(Ranks &ranks) const { ranks.countSent(kind, sentBytes); }

private:
  uint32_t kind; ///< MtcCollectiveKind
  int64_t sentBytes = 0;
  std::vector<TransferMessages::Copy> copies;
  std::vector<Message::Range> zeros;
  std::unique_ptr<DeviceExchange> exchange; ///< null if there are no messages
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_STEP_TRANSFER_H
