#include "test/runtime/collectives/thread_ranks.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>

using namespace mtc::runtime;

namespace mtc::test {
namespace {

/// A message that has been started, whose sender waits for its receiver.
struct Sent {
  const Message *message;
  bool isReceived = false;
};

/// The messages between the ranks.
struct Mail {
  explicit Mail(int count) : count(count) {}

  int count;
  std::mutex mutex;
  std::map<std::tuple<int, int, int>, std::deque<std::shared_ptr<Sent>>>
      queues;                ///< by sender, receiver and exchange
  std::vector<int> arrivals; ///< of ranks at each barrier
  /// Messages between two ranks that have been started and not delivered, in order.
  struct Channel {
    std::deque<std::shared_ptr<Sent>> sent, received;
  };
  std::map<std::tuple<int, int, uint32_t>, Channel> channels; ///< by sender, receiver and channel
};

thread_local Mail *mailOfThread = nullptr;
thread_local int rankOfThread = 0;

/// Copies a message of the sender into the ranges of the receiver.
void deliver(const Message &from, const Message &to) {
  std::string bytes;
  for (const Message::Range &range : from.ranges)
    bytes.append(range.data, static_cast<size_t>(range.bytes));
  if (static_cast<int64_t>(bytes.size()) != to.bytes())
    systemError("a message of ", bytes.size(), " bytes arrived, expected ", to.bytes());
  size_t at = 0;
  for (const Message::Range &range : to.ranges) {
    std::memcpy(range.data, bytes.data() + at, static_cast<size_t>(range.bytes));
    at += static_cast<size_t>(range.bytes);
  }
}

class ThreadExchange final : public Exchange {
public:
  ThreadExchange(int number, std::vector<Message> sent, std::vector<Message> received)
      : number(number), sent(std::move(sent)), received(std::move(received)) {}
  ThreadExchange(const ThreadExchange &) = delete;
  ThreadExchange &operator=(const ThreadExchange &) = delete;
  ~ThreadExchange() override {
    // After an abort, messages remain whose memory no longer exists.
    std::lock_guard lock(mail.mutex);
    for (int other = 0; other < mail.count; ++other)
      mail.queues[{rank, other, number}].clear();
  }

  void start() override {
    std::lock_guard lock(mail.mutex);
    waitsFor.assign(received.size(), false);
    inFlight.assign(sent.size(), nullptr);
    for (int other = 0; other < mail.count; ++other) {
      const auto index = static_cast<size_t>(other);
      for (const Message::Range &range : received[index].ranges)
        std::memset(range.data, poison, static_cast<size_t>(range.bytes));
      waitsFor[index] = !received[index].ranges.empty();
      if (sent[index].ranges.empty())
        continue;
      inFlight[index] = std::make_shared<Sent>(&sent[index]);
      mail.queues[{rank, other, number}].push_back(inFlight[index]);
    }
  }

  bool poll() override {
    std::lock_guard lock(mail.mutex);
    for (int other = 0; other < mail.count; ++other) {
      const auto index = static_cast<size_t>(other);
      auto &queue = mail.queues[{other, rank, number}];
      if (!waitsFor[index] || queue.empty())
        continue;
      deliver(*queue.front()->message, received[index]);
      queue.front()->isReceived = true;
      queue.pop_front();
      waitsFor[index] = false;
    }
    return pendingRanks().empty();
  }

  std::vector<int> pending() const override {
    std::lock_guard lock(mail.mutex);
    return pendingRanks();
  }

private:
  std::vector<int> pendingRanks() const {
    std::vector<int> ranks;
    for (size_t other = 0; other < waitsFor.size(); ++other)
      if (waitsFor[other] || (inFlight[other] && !inFlight[other]->isReceived))
        ranks.push_back(static_cast<int>(other));
    return ranks;
  }

  Mail &mail = *mailOfThread;
  const int rank = rankOfThread, number;
  const std::vector<Message> sent, received;
  std::vector<bool> waitsFor;                  ///< by sender
  std::vector<std::shared_ptr<Sent>> inFlight; ///< by receiver
};

/// A message of a channel, which is matched in the order of starts on both sides.
class ThreadMessage final : public Exchange {
public:
  ThreadMessage(const Message &message, int other, bool isSent, uint32_t channel)
      : message(message), other(other), isSent(isSent),
        key(isSent ? std::tuple(rankOfThread, other, channel)
                   : std::tuple(other, rankOfThread, channel)) {}
  ThreadMessage(const ThreadMessage &) = delete;
  ThreadMessage &operator=(const ThreadMessage &) = delete;
  ~ThreadMessage() override {
    const std::lock_guard lock(mail.mutex);
    Mail::Channel &channel = mail.channels[key];
    std::erase(isSent ? channel.sent : channel.received, inFlight);
  }

  void start() override {
    const std::lock_guard lock(mail.mutex);
    if (!isSent)
      for (const Message::Range &range : message.ranges)
        std::memset(range.data, poison, static_cast<size_t>(range.bytes));
    inFlight = std::make_shared<Sent>(&message);
    Mail::Channel &channel = mail.channels[key];
    (isSent ? channel.sent : channel.received).push_back(inFlight);
  }

  bool poll() override {
    const std::lock_guard lock(mail.mutex);
    Mail::Channel &channel = mail.channels[key];
    while (!isSent && !channel.sent.empty() && !channel.received.empty()) {
      deliver(*channel.sent.front()->message, *channel.received.front()->message);
      channel.sent.front()->isReceived = channel.received.front()->isReceived = true;
      channel.sent.pop_front();
      channel.received.pop_front();
    }
    return inFlight->isReceived;
  }

  std::vector<int> pending() const override {
    const std::lock_guard lock(mail.mutex);
    return inFlight && !inFlight->isReceived ? std::vector{other} : std::vector<int>();
  }

private:
  Mail &mail = *mailOfThread;
  const Message message;
  const int other;
  const bool isSent;
  const std::tuple<int, int, uint32_t> key;
  std::shared_ptr<Sent> inFlight;
};

class ThreadBarrier final : public Exchange {
public:
  void start() override {
    std::lock_guard lock(mail.mutex);
    if (mail.arrivals.size() == use)
      mail.arrivals.push_back(0);
    ++mail.arrivals[use++];
  }
  bool poll() override {
    std::lock_guard lock(mail.mutex);
    return mail.arrivals[use - 1] == mail.count;
  }
  std::vector<int> pending() const override { return {}; }

private:
  Mail &mail = *mailOfThread;
  size_t use = 0;
};

class ThreadTransport final : public Transport {
public:
  int rank() const override { return rankOfThread; }
  int count() const override { return mailOfThread->count; }
  int countOfMachine() const override { return mailOfThread->count; }
  int rankOnMachine() const override { return rankOfThread; }
  std::unique_ptr<Exchange> prepare(std::vector<Message> sent, std::vector<Message> received,
                                    PreparedBy by) override {
    const int number = by == PreparedBy::All ? exchanges++ : firstOfStage + exchangesOfStage++;
    return std::make_unique<ThreadExchange>(number, std::move(sent), std::move(received));
  }
  std::unique_ptr<Exchange> prepareMessage(const Message &message, int rank, bool isSent,
                                           uint32_t channel) override {
    return std::make_unique<ThreadMessage>(message, rank, isSent, channel);
  }
  std::unique_ptr<Exchange> prepareBarrier() override { return std::make_unique<ThreadBarrier>(); }
  [[noreturn]] void abort(int exitCode) override { throw Aborted{exitCode}; }

private:
  static constexpr int firstOfStage = 1 << 20;
  int exchanges = 0, exchangesOfStage = 0;
};

} // namespace

std::unique_ptr<Transport> openThreads() { return std::make_unique<ThreadTransport>(); }

std::vector<RankResult> runRanks(int count, const std::function<void(Ranks &)> &body,
                                 double timeout) {
  Mail mail(count);
  std::vector<RankResult> results(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      mailOfThread = &mail;
      rankOfThread = rank;
      RankResult &result = results[static_cast<size_t>(rank)];
      try {
        Ranks ranks(openThreads, timeout);
        body(ranks);
      } catch (const Aborted &aborted) {
        result.abortedWith = aborted.exitCode;
      } catch (const Failure &failure) {
        result.error = failure.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

} // namespace mtc::test
