// Enqueues the messages of a transfer, and then its copies.
#include "runtime/devices/gpu/step_transfer.h"

#include <utility>

namespace mtc::runtime::gpu {

StepTransfer::StepTransfer(const MtcProgram &program, const MtcOperation &operation, Address arena,
                           Ranks *ranks, DeviceTransport *transport)
    : kind(program.collectives[operation.index].kind) {
  std::vector<char *> operands;
  operands.reserve(operation.operand_count);
  for (uint32_t k = 0; k < operation.operand_count; ++k)
    operands.push_back(
        reinterpret_cast<char *>(arena + static_cast<Address>(operation.operands[k])));
  const int rank = ranks ? ranks->rank() : 0;
  TransferMessages messages = divideTransfer(program, operation, operands, rank);
  sentBytes = messages.sentBytes();
  zeros = std::move(messages.zeros);
  copies = std::move(messages.copies);
  if (!transport)
    return;
  const auto own = static_cast<size_t>(rank);
  if (transport->sendsToItself())
    for (const TransferMessages::Copy &copy : std::exchange(copies, {})) {
      messages.sent[own].ranges.push_back({copy.from, copy.bytes});
      messages.received[own].ranges.push_back({copy.to, copy.bytes});
    }
  int64_t bytes = 0;
  for (const std::vector<Message> *all : {&messages.sent, &messages.received})
    for (const Message &message : *all)
      bytes += message.bytes();
  if (bytes)
    exchange = transport->prepare(std::move(messages.sent), std::move(messages.received),
                                  std::move(messages.what));
}

void StepTransfer::enqueue(const Gpu &gpu, Stream stream) const {
  constexpr const char *copyFails = "the GPU's memory cannot be copied";
  auto addressOf = [](const char *data) { return reinterpret_cast<Address>(data); };
  if (exchange)
    exchange->enqueue(stream);
  for (const TransferMessages::Copy &copy : copies)
    gpu.check(gpu.driver.copyOnDevice(addressOf(copy.to), addressOf(copy.from),
                                      static_cast<size_t>(copy.bytes), stream),
              copyFails);
  for (const Message::Range &range : zeros)
    gpu.check(
        gpu.driver.fillBytes(addressOf(range.data), 0, static_cast<size_t>(range.bytes), stream),
        copyFails);
}

} // namespace mtc::runtime::gpu
