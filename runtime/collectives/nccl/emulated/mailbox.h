// Connections between the processes of an emulated communicator.
#ifndef MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_MAILBOX_H
#define MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_MAILBOX_H

#include <cstddef>
#include <string>
#include <vector>

namespace mtc::runtime::nccl {

/// A connection from a sender to a receiver, on which no call blocks.
class Connection {
public:
  Connection() = default;
  explicit Connection(int file) : file(file) {}
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
  Connection(Connection &&other) noexcept;
  Connection &operator=(Connection &&other) noexcept;
  ~Connection();

  bool isOpen() const { return file >= 0; }
  /// Returns whether the other process has ended.
  bool hasEnded() const { return ended; }
  /// Write or read as much of a range from `done` on as is possible now, and advance `done`. Return
  /// whether all of it is done.
  bool write(const void *data, size_t bytes, size_t &done);
  bool read(void *data, size_t bytes, size_t &done);

private:
  bool advance(long moved, size_t bytes, size_t &done);

  int file = -1;
  bool ended = false;
};

/// The connections of one rank, by Unix sockets in the abstract namespace, of which nothing remains
/// when the processes end.
class Mailbox {
public:
  /// Throws a system error if the socket cannot be opened. `name` is that of the communicator.
  Mailbox(const std::string &name, int ranks, int rank);
  Mailbox(const Mailbox &) = delete;
  Mailbox &operator=(const Mailbox &) = delete;
  ~Mailbox() { close(); }

  /// Closes all connections, which the other ranks notice. `to` and `from` must not be called then.
  void close();
  /// Return the connection to or from a rank; null as long as that rank has not opened its mailbox,
  /// or has not connected itself.
  Connection *to(int rank);
  Connection *from(int rank);

private:
  void acceptAll();

  std::string name;
  int rank, listener;
  std::vector<Connection> outgoing, incoming; ///< by rank
  std::vector<Connection> unknown;            ///< whose rank has not been read
};

} // namespace mtc::runtime::nccl

#endif // MTC_RUNTIME_COLLECTIVES_NCCL_EMULATED_MAILBOX_H
