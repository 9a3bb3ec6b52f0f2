// Messages are written and read in order, as far as their connections allow at each call.
#include "runtime/collectives/nccl/emulated/group.h"

#include "runtime/devices/cuda/emulated/execution/emulator.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace mtc::runtime::nccl {

Group::Group(std::shared_ptr<CommunicatorObject> communicator, std::string name,
             std::vector<Message> messages)
    : communicator(std::move(communicator)), name(std::move(name)), messages(std::move(messages)) {}

Group::~Group() { std::erase(communicator->announced, this); }

/// Returns whether a message of the group reads or writes a byte of `destination`.
bool Group::needs(const Message &destination) const {
  return std::any_of(messages.begin(), messages.end(), [&](const Message &own) {
    return own.data < destination.data + destination.bytes &&
           destination.data < own.data + own.bytes;
  });
}

void Group::announce(bool mayStart) {
  if (mayStart)
    for (const Message &message : messages) {
      const bool isNeeded =
          std::any_of(communicator->announced.begin(), communicator->announced.end(),
                      [&](const Group *other) { return other->needs(message); });
      if (message.isSent || isNeeded ||
          !emulation::findFault(message.data, message.bytes, false).empty())
        continue;
      std::memset(message.data, 0xff, message.bytes);
      emulation::markUndefined(message.data, message.bytes);
    }
  communicator->announced.push_back(this);
}

/// Returns "rank 1 receives message 2 of group 5 (all_gather of x) from rank 0: 8 bytes of type 0".
std::string Group::describe(const Message &message, const State &state) const {
  return text("rank ", communicator->rank, message.isSent ? " sends" : " receives", " message ",
              state.number, " of group ", number, " (", name, ") ", message.isSent ? "to" : "from",
              " rank ", message.peer, ": ", message.bytes, " bytes of type ", message.type);
}

/// Begins a run. Returns an error message, or "".
std::string Group::start() {
  isRunning = true;
  number = ++communicator->groups;
  states.assign(messages.size(), {});
  std::map<std::pair<bool, int>, uint64_t> counts;
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message &message = messages[i];
    State &state = states[i];
    state.number = ++counts[{message.isSent, message.peer}];
    if (std::string fault = emulation::findFault(message.data, message.bytes, message.isSent);
        !fault.empty())
      return describe(message, state) + ": " + fault;
    if (message.isSent) {
      state.name = name;
      state.header = {number, state.number, static_cast<uint64_t>(message.type), message.bytes,
                      name.size()};
    }
  }
  return copyToItself();
}

/// Copies the messages from this rank to itself.
std::string Group::copyToItself() {
  std::vector<size_t> sent, received;
  for (size_t i = 0; i < messages.size(); ++i)
    if (isToItself(messages[i]))
      (messages[i].isSent ? sent : received).push_back(i);
  if (sent.size() != received.size())
    return text("rank ", communicator->rank, " sends ", sent.size(), " messages of group ", number,
                " (", name, ") to itself, but receives ", received.size());
  for (size_t k = 0; k < sent.size(); ++k) {
    const Message &from = messages[sent[k]], &to = messages[received[k]];
    if (from.bytes != to.bytes || from.type != to.type)
      return text(describe(to, states[received[k]]), ", but ", describe(from, states[sent[k]]));
    std::memmove(to.data, from.data, from.bytes);
    emulation::markDefined(to.data, to.bytes);
    states[sent[k]].confirmDone = states[received[k]].confirmDone = 1;
  }
  return "";
}

/// Writes what the connection accepts. Returns whether the message is written.
bool Group::send(const Message &message, State &state) {
  Connection *connection = communicator->mailbox.to(message.peer);
  return connection && connection->write(&state.header, sizeof state.header, state.headerDone) &&
         connection->write(state.name.data(), state.name.size(), state.nameDone) &&
         connection->write(message.data, message.bytes, state.dataDone);
}

/// Reads what has arrived and confirms the message at its end. Returns an error message, or "".
std::string Group::receive(const Message &message, State &state) {
  Connection *connection = communicator->mailbox.from(message.peer);
  if (!connection || !connection->read(&state.header, sizeof state.header, state.headerDone))
    return "";
  const Header &header = state.header;
  state.name.resize(header.nameBytes);
  if (!connection->read(state.name.data(), state.name.size(), state.nameDone))
    return "";
  if (header.group != number || header.number != state.number || header.bytes != message.bytes ||
      header.type != static_cast<uint64_t>(message.type) || state.name != name)
    return text(describe(message, state), ", but rank ", message.peer, " sends message ",
                header.number, " of group ", header.group, " (", state.name, "): ", header.bytes,
                " bytes of type ", header.type);
  if (!connection->read(message.data, message.bytes, state.dataDone))
    return "";
  emulation::markDefined(message.data, message.bytes);
  const char confirmation = 1;
  connection->write(&confirmation, 1, state.confirmDone);
  return "";
}

/// Reads the confirmation of a sent message. Returns whether the confirmation has arrived.
bool Group::confirm(const Message &message, State &state) {
  char confirmation = 0;
  return communicator->mailbox.to(message.peer)->read(&confirmation, 1, state.confirmDone);
}

/// Advances each message that is not behind an earlier one of the same connection. Returns an
/// error message, or "".
std::string Group::advance() {
  std::set<int> writing, confirming, reading; // Ranks of connections that must be waited for.
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message &message = messages[i];
    State &state = states[i];
    const int peer = message.peer;
    if (state.confirmDone)
      continue;
    if (!message.isSent) {
      if (reading.count(peer))
        continue;
      if (std::string fault = receive(message, state); !fault.empty())
        return fault;
      if (!state.confirmDone)
        reading.insert(peer);
      continue;
    }
    if (writing.count(peer))
      continue;
    if (!send(message, state))
      writing.insert(peer);
    else if (!confirming.count(peer) && !confirm(message, state))
      confirming.insert(peer);
    if (state.confirmDone)
      communicator->sentBytes += message.bytes;
  }
  return "";
}

std::optional<std::string> Group::run() {
  if (communicator->wasAborted)
    return "";
  std::string fault;
  if (!isRunning)
    fault = start();
  if (fault.empty())
    fault = advance();
  if (!fault.empty())
    return "NCCL, emulated: " + fault;
  for (size_t i = 0; i < messages.size(); ++i) {
    const int peer = messages[i].peer;
    if (states[i].confirmDone)
      continue;
    const Connection *connection =
        messages[i].isSent ? communicator->mailbox.to(peer) : communicator->mailbox.from(peer);
    if (connection && connection->hasEnded())
      communicator->error = text("rank ", peer, " has ended");
    return std::nullopt;
  }
  isRunning = false;
  std::erase(communicator->announced, this);
  return "";
}

} // namespace mtc::runtime::nccl
