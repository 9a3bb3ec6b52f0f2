// Sockets that never block.
#include "runtime/collectives/nccl/emulated/mailbox.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime::nccl {
namespace {

int openSocket() {
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0)
    systemError("NCCL, emulated: no socket can be opened: ", std::strerror(errno));
  return file;
}

/// Calls bind or connect with the address of a rank.
template <typename Call> int withAddress(const std::string &name, int rank, const Call &call) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // A path that starts with 0 is in the abstract namespace.
  const std::string path = text('\0', name, '.', rank);
  const size_t length = std::min(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), length);
  return call(reinterpret_cast<const sockaddr *>(&address),
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
}

} // namespace

Connection::Connection(Connection &&other) noexcept
    : file(std::exchange(other.file, -1)), ended(other.ended) {}

Connection &Connection::operator=(Connection &&other) noexcept {
  std::swap(file, other.file);
  std::swap(ended, other.ended);
  return *this;
}

Connection::~Connection() {
  if (isOpen())
    ::close(file);
}

bool Connection::advance(long moved, size_t bytes, size_t &done) {
  if (moved > 0)
    done += static_cast<size_t>(moved);
  else if (moved == 0 || (errno != EAGAIN && errno != EINTR))
    ended = true;
  return done == bytes;
}

bool Connection::write(const void *data, size_t bytes, size_t &done) {
  return done == bytes ||
         advance(send(file, static_cast<const char *>(data) + done, bytes - done, MSG_NOSIGNAL),
                 bytes, done);
}

bool Connection::read(void *data, size_t bytes, size_t &done) {
  return done == bytes ||
         advance(recv(file, static_cast<char *>(data) + done, bytes - done, 0), bytes, done);
}

Mailbox::Mailbox(const std::string &name, int ranks, int rank)
    : name(name), rank(rank), listener(openSocket()), outgoing(static_cast<size_t>(ranks)),
      incoming(static_cast<size_t>(ranks)) {
  const bool isBound = withAddress(name, rank, [&](const sockaddr *address, socklen_t bytes) {
                         return bind(listener, address, bytes);
                       }) == 0;
  if (!isBound || listen(listener, ranks) != 0) {
    const std::string why = std::strerror(errno);
    ::close(listener);
    systemError("NCCL, emulated: rank ", rank, " cannot open its socket: ", why);
  }
}

void Mailbox::close() {
  if (listener >= 0)
    ::close(std::exchange(listener, -1));
  outgoing.clear();
  incoming.clear();
  unknown.clear();
}

Connection *Mailbox::to(int other) {
  Connection &connection = outgoing[static_cast<size_t>(other)];
  if (connection.isOpen())
    return &connection;
  const int file = openSocket();
  Connection opened(file);
  if (withAddress(name, other, [&](const sockaddr *address, socklen_t bytes) {
        return connect(file, address, bytes);
      }) != 0)
    return nullptr;
  size_t done = 0;
  if (!opened.write(&rank, sizeof rank, done))
    return nullptr; // The receiver drops a connection without a rank.
  connection = std::move(opened);
  return &connection;
}

void Mailbox::acceptAll() {
  for (int file; (file = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;)
    unknown.emplace_back(file);
  std::vector<Connection> still;
  for (Connection &connection : unknown) {
    int sender = 0;
    size_t done = 0;
    if (connection.read(&sender, sizeof sender, done) && sender >= 0 &&
        sender < static_cast<int>(incoming.size()))
      incoming[static_cast<size_t>(sender)] = std::move(connection);
    else if (done == 0 && !connection.hasEnded())
      still.push_back(std::move(connection));
  }
  unknown = std::move(still);
}

Connection *Mailbox::from(int other) {
  Connection &connection = incoming[static_cast<size_t>(other)];
  if (!connection.isOpen())
    acceptAll();
  return connection.isOpen() ? &connection : nullptr;
}

} // namespace mtc::runtime::nccl
