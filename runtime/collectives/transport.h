// Moves bytes between the processes of a program. A transport is one folder of
// runtime/collectives/, which a program is linked with if it has several ranks.
#ifndef MTC_RUNTIME_COLLECTIVES_TRANSPORT_H
#define MTC_RUNTIME_COLLECTIVES_TRANSPORT_H

#include <cstdint>
#include <memory>
#include <vector>

namespace mtc::runtime {

/// A message from one rank to another: ranges of memory, sent in order.
struct Message {
  struct Range {
    char *data;
    int64_t bytes;
  };
  std::vector<Range> ranges;

  int64_t bytes() const {
    int64_t sum = 0;
    for (const Range &range : ranges)
      sum += range.bytes;
    return sum;
  }
};

/// Messages to and from every other rank, in the same memory each time.
class Exchange {
public:
  virtual ~Exchange() = default;
  /// Starts all messages. The memory must not be accessed until `poll` returns true, except that
  /// sent memory may be read.
  virtual void start() = 0;
  /// Advances the messages. Returns whether all have completed.
  virtual bool poll() = 0;
  /// Returns the ranks whose messages have not completed.
  virtual std::vector<int> pending() const = 0;
  /// Returns whether the time limit of a wait restarts, because this rank does not wait for the
  /// others, or because they have advanced since the last call.
  virtual bool restartsLimit() { return false; }
};

/// The ranks that prepare the same exchanges in the same order.
enum class PreparedBy {
  All,  ///< all ranks of the run
  Stage ///< the ranks of a pipeline stage; the exchanges have no messages to other stages
};

class Transport {
public:
  /// Ends the use of the transport. All exchanges must have been destroyed.
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;
  /// Returns the number of ranks on this machine, and the number of this rank among them.
  virtual int countOfMachine() const = 0;
  virtual int rankOnMachine() const = 0;
  /// Prepares messages to and from each rank, by rank; those of this rank are empty. All ranks of
  /// `by` prepare the same exchanges in the same order.
  virtual std::unique_ptr<Exchange> prepare(std::vector<Message> sent,
                                            std::vector<Message> received, PreparedBy by) = 0;
  /// Prepares a message to or from one rank, which prepares its side of it. Messages of a channel
  /// are sent and received in the order in which they are started.
  virtual std::unique_ptr<Exchange> prepareMessage(const Message &message, int rank, bool isSent,
                                                   uint32_t channel) = 0;
  /// Returns an exchange without contents that completes when all ranks have started it.
  virtual std::unique_ptr<Exchange> prepareBarrier() = 0;
  /// Ends the processes of all ranks.
  [[noreturn]] virtual void abort(int exitCode) = 0;
};

/// Opens the transport of the processes that the launcher has started.
using OpenTransport = std::unique_ptr<Transport> (*)();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_TRANSPORT_H
