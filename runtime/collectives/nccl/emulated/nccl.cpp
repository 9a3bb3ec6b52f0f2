// An NCCL whose messages travel between processes of one machine.
//
// A group runs in the order of its stream, as late as the program's waits permit (see streams.h).
// MTC_EMULATED_TRAFFIC=FILE writes the bytes that each rank has sent to others to FILE.RANK.
#include "runtime/collectives/nccl/nccl.h"

#include "runtime/collectives/nccl/emulated/group.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/cuda/emulated/streams.h"
#include "runtime/support/failure.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace mtc::runtime::nccl {
namespace {

/// The group that is being assembled.
struct Assembly {
  int depth = 0;
  std::map<std::pair<Communicator, Stream>, std::vector<Message>> messages;
  /// The name of the next group of a stream, and the events that it waits for.
  std::map<Stream, std::pair<std::string, std::vector<gpu::Position>>> names;
};
Assembly &assembly() {
  static Assembly instance;
  return instance;
}

/// Groups in streams and graphs keep their communicator after it was aborted.
std::map<Communicator, std::shared_ptr<CommunicatorObject>> &communicators() {
  static std::map<Communicator, std::shared_ptr<CommunicatorObject>> all;
  return all;
}

/// The error of calls without a communicator.
std::string &lastProblem() {
  static std::string problem;
  return problem;
}

int fail(int status, std::string problem) {
  lastProblem() = std::move(problem);
  return status;
}

int version(int *version) {
  *version = 22900;
  return done;
}

const char *statusText(int status) {
  return status == remoteFailed      ? "remote process exited or there was a network error"
         : status == systemFailed    ? "unhandled system error"
         : status == invalidArgument ? "invalid argument"
         : status == invalidUsage    ? "invalid usage"
                                     : "no error";
}

const char *lastError(Communicator communicator) {
  return communicator && !communicator->error.empty() ? communicator->error.c_str()
                                                      : lastProblem().c_str();
}

std::string hostName() {
  char name[64] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

int makeId(UniqueId *id) {
  static std::atomic<int> count = 0;
  std::snprintf(id->bytes, sizeof id->bytes, "%s mtc-nccl-%d-%d", hostName().c_str(),
                static_cast<int>(getpid()), count++);
  return done;
}

int create(Communicator *communicator, int ranks, UniqueId id, int rank) {
  id.bytes[sizeof id.bytes - 1] = 0;
  const std::string text = id.bytes, host = hostName() + " ";
  if (rank < 0 || rank >= ranks || text.size() <= host.size())
    return fail(invalidArgument, "no such rank or id");
  if (text.compare(0, host.size(), host) != 0)
    return fail(invalidUsage, "emulated NCCL supports ranks on one machine only");
  constexpr uint64_t bytesOfPeer = 1 << 20;
  try {
    auto object = std::make_shared<CommunicatorObject>(text.substr(host.size()), ranks, rank);
    object->bufferBytes = bytesOfPeer * static_cast<uint64_t>(ranks);
    const gpu::Driver &driver = cuda::openDriver();
    if (driver.allocate(&object->buffers, object->bufferBytes) != gpu::success)
      return fail(systemFailed, "out of memory of the device");
    *communicator = object.get();
    communicators()[*communicator] = std::move(object);
  } catch (const Failure &failure) {
    return fail(systemFailed, failure.what());
  }
  return done;
}

void writeTraffic(const CommunicatorObject &communicator) {
  const char *path = std::getenv("MTC_EMULATED_TRAFFIC");
  if (!path)
    return;
  const std::string name = text(path, '.', communicator.rank);
  if (std::FILE *file = std::fopen(name.c_str(), "w")) {
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(communicator.sentBytes));
    std::fclose(file);
  }
}

int destroy(Communicator communicator) {
  cuda::openDriver().release(communicator->buffers); // Waits for all work, too.
  writeTraffic(*communicator);
  communicators().erase(communicator);
  return done;
}

int abort(Communicator communicator) {
  communicator->wasAborted = true;
  communicator->mailbox.close();
  communicators().erase(communicator);
  return done;
}

int asynchronousStatus(Communicator communicator, int *status) {
  *status = communicator->error.empty() ? done : remoteFailed;
  return done;
}

int beginGroup() {
  ++assembly().depth;
  return done;
}

void enqueueGroup(Communicator communicator, Stream stream, std::vector<Message> messages) {
  const auto known = assembly().names.find(stream);
  std::string name = "without a name";
  std::vector<gpu::Position> awaited;
  if (known != assembly().names.end()) {
    std::tie(name, awaited) = std::move(known->second);
    assembly().names.erase(known);
  }
  auto group = std::make_shared<Group>(communicators().at(communicator), std::move(name),
                                       std::move(messages));
  if (!awaited.empty())
    gpu::enqueueAt(awaited.front(), [group, mayStart = awaited.size() == 1] {
      group->announce(mayStart);
      return "";
    });
  gpu::enqueue(stream, [group] { return group->run(); });
}

int endGroup() {
  Assembly &all = assembly();
  if (all.depth == 0)
    return fail(invalidUsage, "a group is ended that was not begun");
  if (--all.depth > 0)
    return done;
  for (auto &[key, messages] : std::exchange(all.messages, {}))
    enqueueGroup(key.first, key.second, std::move(messages));
  return done;
}

int add(bool isSent, const void *data, size_t count, int type, int peer, Communicator communicator,
        Stream stream) {
  if (peer < 0 || peer >= communicator->ranks)
    return fail(invalidArgument, text("there is no rank ", peer));
  static constexpr size_t bytesOfTypes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  if (type < 0 || static_cast<size_t>(type) >= std::size(bytesOfTypes))
    return fail(invalidArgument, text("there is no type ", type));
  beginGroup();
  assembly().messages[{communicator, stream}].push_back(
      {isSent, peer, type, static_cast<char *>(const_cast<void *>(data)),
       count * bytesOfTypes[type]});
  return endGroup();
}

int send(const void *from, size_t count, int type, int peer, Communicator communicator,
         Stream stream) {
  return add(true, from, count, type, peer, communicator, stream);
}

int receive(void *to, size_t count, int type, int peer, Communicator communicator, Stream stream) {
  return add(false, to, count, type, peer, communicator, stream);
}

int memoryStatistic(Communicator communicator, int which, uint64_t *value) {
  if (which != totalMemory)
    return invalidArgument;
  *value = communicator->bufferBytes;
  return done;
}

void nameGroup(const char *name, Stream stream) {
  assembly().names[stream] = {name, stream->awaited};
}

} // namespace

const Library &openLibrary() {
  static const Library library = {
      .version = version,
      .statusText = statusText,
      .lastError = lastError,
      .makeId = makeId,
      .create = create,
      .destroy = destroy,
      .abort = abort,
      .asynchronousStatus = asynchronousStatus,
      .beginGroup = beginGroup,
      .endGroup = endGroup,
      .send = send,
      .receive = receive,
      .memoryStatistic = memoryStatistic,
      .nameGroup = nameGroup,
  };
  return library;
}

} // namespace mtc::runtime::nccl
