// A group of sends and receives of the emulated NCCL.
#ifndef MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_GROUP_H
#define MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_GROUP_H

#include "runtime/collectives/nccl/emulated/mailbox.h"
#include "runtime/collectives/nccl/nccl.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime::nccl {

class Group;

struct CommunicatorObject {
  CommunicatorObject(const std::string &name, int ranks, int rank)
      : ranks(ranks), rank(rank), mailbox(name, ranks, rank) {}

  int ranks, rank;
  Mailbox mailbox;
  gpu::Address buffers = 0; ///< device memory, as the library allocates it
  uint64_t bufferBytes = 0;
  uint64_t groups = 0;    ///< number of groups that have started
  uint64_t sentBytes = 0; ///< to other ranks
  std::string error;      ///< why messages cannot arrive
  bool wasAborted = false;
  std::vector<Group *> announced; ///< groups that may run and have not ended
};

/// A send or receive.
struct Message {
  bool isSent;
  int peer, type;
  char *data;
  size_t bytes;
};

/// A group of messages. They run together whenever their stream runs, or a graph that contains
/// them.
///
/// A message arrives only if its sender and its receiver agree about its group, order, size and
/// type. A send ends when its receiver has confirmed the message, as late as the library permits.
class Group {
public:
  Group(std::shared_ptr<CommunicatorObject> communicator, std::string name,
        std::vector<Message> messages);
  ~Group();
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;

  /// Called when all work that was enqueued before the group has ended, except for that of its own
  /// stream. If the group may start at once, makes its destinations uninitialized until they are
  /// received, unless an earlier group still needs them.
  void announce(bool mayStart);
  /// Advances the messages. Returns an error message, "" if all are done, and nullopt otherwise.
  std::optional<std::string> run();

private:
  /// The header before the bytes of a message.
  struct Header {
    uint64_t group = 0, number = 0, type = 0, bytes = 0, nameBytes = 0;
  };
  /// A message in the current run: the bytes that were written or read of each of its parts.
  struct State {
    Header header;
    std::string name; ///< of the sender's group
    uint64_t number;  ///< among the messages between the same ranks
    size_t headerDone = 0, nameDone = 0, dataDone = 0, confirmDone = 0;
  };

  std::string start();
  std::string copyToItself();
  bool send(const Message &message, State &state);
  std::string receive(const Message &message, State &state);
  bool confirm(const Message &message, State &state);
  std::string advance();
  bool needs(const Message &destination) const;
  std::string describe(const Message &message, const State &state) const;
  bool isToItself(const Message &message) const { return message.peer == communicator->rank; }

  std::shared_ptr<CommunicatorObject> communicator;
  std::string name;
  std::vector<Message> messages;
  std::vector<State> states;
  uint64_t number = 0; ///< of the current run, among those of the communicator
  bool isRunning = false;
};

} // namespace mtc::runtime::nccl

#endif // MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_GROUP_H
