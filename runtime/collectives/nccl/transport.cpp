// Messages between devices by NCCL. Every message is a send and a receive, because the program's
// kernels add what they deliver in the order of ranks, as a reduction by NCCL would not.
#include "runtime/collectives/nccl/nccl.h"
#include "runtime/collectives/nccl/progress.h"
#include "runtime/collectives/ranks.h"
#include "runtime/devices/gpu/device_transport.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

namespace mtc::runtime {
namespace nccl {
namespace {

/// An id as digits, since ranks exchange text.
std::string toDigits(const UniqueId &id) {
  std::string digits;
  for (const char byte : id.bytes)
    for (const int shift : {4, 0})
      digits += static_cast<char>('a' + (static_cast<unsigned char>(byte) >> shift & 15));
  return digits;
}

UniqueId fromDigits(const std::string &digits) {
  UniqueId id = {};
  for (size_t i = 0; i < sizeof id.bytes && 2 * i + 1 < digits.size(); ++i)
    id.bytes[i] = static_cast<char>((digits[2 * i] - 'a') << 4 | (digits[2 * i + 1] - 'a'));
  return id;
}

class NcclTransport final : public gpu::DeviceTransport {
public:
  NcclTransport(const gpu::Gpu &gpu, Ranks &ranks) : gpu(gpu), ranks(ranks), progress(gpu) {}
  NcclTransport(const NcclTransport &) = delete;
  NcclTransport &operator=(const NcclTransport &) = delete;
  ~NcclTransport() override {
    // A rank that fails alone must not wait for the others.
    if (std::uncaught_exceptions())
      abort();
    else if (communicator && !wasAborted)
      library->destroy(communicator);
  }

  std::unique_ptr<gpu::DeviceExchange>
  prepare(std::vector<Message> sent, std::vector<Message> received, std::string what) override;
  bool sendsToItself() const override { return ranks.count() == 1; }
  void connect() override;
  void check() override;
  void abort() override {
    if (communicator && !std::exchange(wasAborted, true))
      ranks.runWithinLimit("NCCL has not ended its messages",
                           [this] { library->abort(communicator); });
  }
  std::string running() const override { return progress.running(); }
  bool hasAdvanced() override { return progress.hasAdvanced(); }
  std::optional<MemoryUse> memory() const override { return use; }

  /// Enqueues messages as one group. `exchange` is their number in `progress`.
  void enqueue(const std::vector<Message> &sent, const std::vector<Message> &received,
               uint32_t exchange, const std::string &what, Stream stream) const;

private:
  void sendAll(const std::vector<Message> &sent, const std::vector<Message> &received,
               const std::string &what, Stream stream) const;
  void checkDevices() const;
  void createCommunicator();
  void exchangeBytes();
  MemoryUse measureMemory(int64_t freeBefore) const;
  void checkStatus(int status, const std::string &what) const {
    if (status == done)
      return;
    const char *words = library->lastError(communicator);
    systemError(what, ": NCCL: ", library->statusText(status),
                words && *words ? text(" (", words, ")") : "");
  }

  const gpu::Gpu &gpu;
  Ranks &ranks;
  const Library *library = nullptr;
  Communicator communicator = nullptr;
  Progress progress;
  std::optional<MemoryUse> use;
  bool wasAborted = false;
};

class NcclExchange final : public gpu::DeviceExchange {
public:
  NcclExchange(const NcclTransport &transport, std::vector<Message> sent,
               std::vector<Message> received, uint32_t number, std::string what)
      : transport(transport), sent(std::move(sent)), received(std::move(received)), number(number),
        what(std::move(what)) {}

  void enqueue(Stream stream) const override {
    transport.enqueue(sent, received, number, what, stream);
  }

private:
  const NcclTransport &transport;
  std::vector<Message> sent, received;
  uint32_t number;
  std::string what;
};

std::unique_ptr<gpu::DeviceExchange>
NcclTransport::prepare(std::vector<Message> sent, std::vector<Message> received, std::string what) {
  const uint32_t number = progress.add(what);
  return std::make_unique<NcclExchange>(*this, std::move(sent), std::move(received), number,
                                        std::move(what));
}

void NcclTransport::sendAll(const std::vector<Message> &sent, const std::vector<Message> &received,
                            const std::string &what, Stream stream) const {
  checkStatus(library->beginGroup(), what);
  // Each rank begins with its successor, so that not all send to rank 0 at once.
  for (int i = 0; i < ranks.count(); ++i) {
    const int to = (ranks.rank() + i) % ranks.count();
    const int from = (ranks.rank() + ranks.count() - i) % ranks.count();
    for (const Message::Range &range : sent[static_cast<size_t>(to)].ranges)
      checkStatus(library->send(range.data, static_cast<size_t>(range.bytes), byteType, to,
                                communicator, stream),
                  what);
    for (const Message::Range &range : received[static_cast<size_t>(from)].ranges)
      checkStatus(library->receive(range.data, static_cast<size_t>(range.bytes), byteType, from,
                                   communicator, stream),
                  what);
  }
  checkStatus(library->endGroup(), what);
}

void NcclTransport::enqueue(const std::vector<Message> &sent, const std::vector<Message> &received,
                            uint32_t exchange, const std::string &what, Stream stream) const {
  if (library->nameGroup)
    library->nameGroup(what.c_str(), stream);
  progress.markBegin(exchange, stream);
  sendAll(sent, received, what, stream);
  progress.markEnd(stream);
}

/// Refuses several ranks on one device, whose memory is planned for one.
void NcclTransport::checkDevices() const {
  const std::vector<std::string> devices = ranks.gather(gpu.identity());
  Problems problems;
  for (size_t r = 0; r < devices.size(); ++r) {
    const auto first = std::find(devices.begin(), devices.end(), devices[r]) - devices.begin();
    if (static_cast<size_t>(first) != r)
      problems.add(ranks.describe(static_cast<int>(r)), " has the same GPU as ",
                   ranks.describe(static_cast<int>(first)),
                   "; start no more ranks on a machine than it has GPUs, and without --device");
  }
  problems.throwIfAny();
}

void NcclTransport::createCommunicator() {
  UniqueId id = {};
  if (ranks.isLeader())
    checkStatus(library->makeId(&id), "the ranks cannot be connected");
  id = fromDigits(ranks.gather(ranks.isLeader() ? toDigits(id) : "").front());
  ranks.runWithinLimit("NCCL has not connected the ranks", [&] {
    checkStatus(library->create(&communicator, ranks.count(), id, ranks.rank()),
                "the ranks cannot be connected");
  });
}

/// Exchanges a byte with each other rank: the library allocates buffers for a pair of ranks at
/// their first message, on which the host waits.
void NcclTransport::exchangeBytes() {
  const gpu::OwnedStream stream(gpu.driver);
  progress.start(stream);
  const auto count = static_cast<size_t>(ranks.count());
  const gpu::DeviceMemory memory(gpu.driver, static_cast<int64_t>(2 * count));
  if (!memory.address())
    systemError("no memory of the GPU is left for exchanges with other ranks");
  gpu.check(gpu.driver.fillBytes(memory.address(), 0, 2 * count, stream),
            "the GPU's memory cannot be written");
  std::vector<Message> sent(count), received(count);
  auto *bytes = reinterpret_cast<char *>(memory.address());
  for (size_t r = 0; r < count; ++r)
    if (count == 1 || static_cast<int>(r) != ranks.rank()) {
      sent[r].ranges = {{bytes + r, 1}};
      received[r].ranges = {{bytes + count + r, 1}};
    }
  ranks.runWithinLimit("NCCL has not connected the ranks", [&] {
    sendAll(sent, received, "first messages between the ranks", stream);
    gpu.check(gpu.driver.waitForStream(stream), "the ranks cannot be connected");
  });
}

MemoryUse NcclTransport::measureMemory(int64_t freeBefore) const {
  uint64_t tracked = 0;
  const bool isKnown = library->memoryStatistic &&
                       library->memoryStatistic(communicator, totalMemory, &tracked) == done &&
                       tracked > 0;
  const int64_t measured = std::max<int64_t>(0, freeBefore - gpu.memory().free);
  return {"GPU: NCCL", isKnown ? static_cast<int64_t>(tracked) : measured,
          text("buffers of messages between ", ranks.count(),
               ranks.count() == 1 ? " rank, " : " ranks, ",
               isKnown ? "as NCCL reports them"
                       : "by the free memory before and after the ranks were connected")};
}

void NcclTransport::connect() {
  if (communicator)
    return;
  library = &openLibrary();
  checkDevices();
  const int64_t free = gpu.memory().free;
  createCommunicator();
  exchangeBytes();
  use = measureMemory(free);
}

void NcclTransport::check() {
  int status = done;
  if (!communicator || wasAborted ||
      (library->asynchronousStatus(communicator, &status) == done && status == done))
    return;
  const char *words = library->lastError(communicator);
  const std::string error =
      text("NCCL: ", library->statusText(status), words && *words ? text(" (", words, ")") : "",
           progress.running().empty() ? "" : text(": ", progress.running()));
  abort();
  ranks.endAfterOthers(error);
}

} // namespace
} // namespace nccl

std::unique_ptr<gpu::DeviceTransport> gpu::openDeviceTransport(const Gpu &gpu, Ranks &ranks) {
  // A single rank uses the library only to test its calls.
  const char *wanted = std::getenv("MTC_NCCL");
  if (ranks.count() == 1 && !(wanted && *wanted == '1'))
    return nullptr;
  return std::make_unique<nccl::NcclTransport>(gpu, ranks);
}

} // namespace mtc::runtime
