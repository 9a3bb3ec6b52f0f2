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

/// A message whose sender waits for its receiver.
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
  std::unique_ptr<Exchange> prepare(std::vector<Message> sent,
                                    std::vector<Message> received) override {
    return std::make_unique<ThreadExchange>(exchanges++, std::move(sent), std::move(received));
  }
  std::unique_ptr<Exchange> prepareBarrier() override { return std::make_unique<ThreadBarrier>(); }
  [[noreturn]] void abort(int exitCode) override { throw Aborted{exitCode}; }

private:
  int exchanges = 0;
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
