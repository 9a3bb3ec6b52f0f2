// Tests results, order and errors of the emulated NCCL.
#include "runtime/abi/collective.h"
#include "runtime/collectives/nccl/nccl.h"
#include "runtime/collectives/transfer_messages.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/cuda/emulated/streams.h"
#include "runtime/devices/gpu/handles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <unistd.h>

using namespace mtc::runtime;
using namespace mtc::runtime::gpu;
using namespace mtc::runtime::nccl;
using mtc::runtime::cuda::openDriver;
using mtc::runtime::gpu::Stream;
using testing::HasSubstr;

namespace {

constexpr size_t bytes = 64, slots = 8; // size in bytes of the memory of a rank

/// Two ranks in one process, each with a stream for computation, a stream for messages, and memory.
struct Rank {
  explicit Rank(const UniqueId &id, int ranks, int number)
      : number(number), memory(driver, slots * bytes) {
    EXPECT_EQ(nccl.create(&communicator, ranks, id, number), done);
    fill(0, 10 * (number + 1));
  }

  char *at(size_t slot) const { return reinterpret_cast<char *>(memory.address() + slot * bytes); }
  void fill(size_t slot, int value) const {
    EXPECT_EQ(driver.fillBytes(memory.address() + slot * bytes, static_cast<unsigned char>(value),
                               bytes, compute),
              success);
  }
  /// Makes the message stream wait for all computation so far.
  void begin() const {
    EXPECT_EQ(driver.recordEvent(issued, compute), success);
    EXPECT_EQ(driver.letStreamWait(messages, issued, 0), success);
  }
  /// Makes later computation wait for the messages.
  void wait() const {
    EXPECT_EQ(driver.recordEvent(ended, messages), success);
    EXPECT_EQ(driver.letStreamWait(compute, ended, 0), success);
  }
  void send(int peer, size_t slot, size_t count = bytes, int type = byteType) const {
    EXPECT_EQ(nccl.send(at(slot), count, type, peer, communicator, messages), done);
  }
  void receive(int peer, size_t slot, size_t count = bytes, int type = byteType) const {
    EXPECT_EQ(nccl.receive(at(slot), count, type, peer, communicator, messages), done);
  }
  /// Enqueues a group, and makes computation wait for it.
  void group(const char *name, const std::function<void()> &body) const {
    begin();
    nccl.nameGroup(name, messages);
    EXPECT_EQ(nccl.beginGroup(), done);
    body();
    EXPECT_EQ(nccl.endGroup(), done);
    wait();
  }
  /// Enqueues a copy of the first byte of a slot to the host, by computation.
  void read(size_t slot) {
    EXPECT_EQ(driver.copyToHost(&found, memory.address() + slot * bytes, 1, compute), success);
  }

  const Driver &driver = openDriver();
  const Library &nccl = openLibrary();
  int number;
  OwnedStream compute{driver}, messages{driver};
  OwnedEvent issued{driver}, ended{driver};
  DeviceMemory memory;
  Communicator communicator = nullptr;
  unsigned char found = 0;
};

class Nccl : public testing::Test {
protected:
  Nccl() { EXPECT_EQ(openLibrary().makeId(&id), done); }
  ~Nccl() override {
    for (Rank &rank : ranks)
      if (rank.communicator)
        rank.nccl.destroy(rank.communicator);
  }

  void start(int count) {
    for (int rank = 0; rank < count; ++rank)
      ranks.emplace_back(id, count, rank);
  }

  /// Runs all work that is ready, alternating between streams, and returns the first error.
  std::string run() {
    for (int turn = 0; turn < 1000; ++turn) {
      bool isDone = true;
      for (Rank &rank : ranks)
        isDone = rank.driver.queryStream(rank.compute) == success && isDone;
      if (isDone)
        return "";
      if (!firstFault().empty())
        return firstFault();
    }
    return "not all messages arrive";
  }

  UniqueId id{};
  std::deque<Rank> ranks;
};

TEST_F(Nccl, DeliversMessagesInOrder) {
  start(3);
  for (Rank &rank : ranks) {
    rank.fill(1, rank.number + 1);
    rank.group("exchange", [&] {
      for (size_t peer = 0; peer < 3; ++peer) {
        rank.send(static_cast<int>(peer), 0);
        rank.send(static_cast<int>(peer), 1, bytes / 4, 7);
        rank.receive(static_cast<int>(peer), 2 + peer);
        rank.receive(static_cast<int>(peer), 5 + peer, bytes / 4, 7);
      }
    });
  }
  for (size_t peer = 0; peer < 3; ++peer)
    for (const bool isFirst : {true, false}) {
      for (Rank &rank : ranks)
        rank.read((isFirst ? 2 : 5) + peer);
      EXPECT_EQ(run(), "");
      for (const Rank &rank : ranks)
        EXPECT_EQ(rank.found, isFirst ? 10 * (peer + 1) : peer + 1);
    }
}

TEST_F(Nccl, ExchangesWithinGroups) {
  // The groups 0 2 and 1 3 communicate at the same time.
  start(4);
  constexpr int64_t piece = bytes, total = 2 * piece;
  const MtcCollective collective = {.kind = MTC_ALL_TO_ALL,
                                    .count = 1,
                                    .ranks = 2,
                                    .stride = 2,
                                    .element_bytes = 1,
                                    .pieces = &piece,
                                    .totals = &total};
  MtcProgram program{};
  program.ranks = 4;
  program.collectives = &collective;
  MtcOperation operation{};
  operation.nodes = "fc";
  for (Rank &rank : ranks) {
    rank.fill(1, rank.number + 1);
    const TransferMessages messages =
        divideTransfer(program, operation, {rank.at(0), rank.at(2)}, rank.number);
    rank.group(messages.what.c_str(), [&] {
      for (int peer = 0; peer < 4; ++peer) {
        for (const auto &range : messages.sent[static_cast<size_t>(peer)].ranges)
          EXPECT_EQ(rank.nccl.send(range.data, static_cast<size_t>(range.bytes), byteType, peer,
                                   rank.communicator, rank.messages),
                    done);
        for (const auto &range : messages.received[static_cast<size_t>(peer)].ranges)
          EXPECT_EQ(rank.nccl.receive(range.data, static_cast<size_t>(range.bytes), byteType, peer,
                                      rank.communicator, rank.messages),
                    done);
      }
    });
    // Returns the row of the other rank of the group.
    rank.read(rank.number < 2 ? 3 : 2);
  }
  EXPECT_EQ(run(), "");
  for (const Rank &rank : ranks) {
    const int peer = (rank.number + 2) % 4;
    EXPECT_EQ(rank.found, rank.number < 2 ? 10 * (peer + 1) : peer + 1) << "rank " << rank.number;
  }
}

TEST_F(Nccl, CountsBytesToOtherRanks) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("mtc-traffic-" + std::to_string(getpid())))
          .string();
  setenv("MTC_EMULATED_TRAFFIC", path.c_str(), 1);
  start(2);
  for (Rank &rank : ranks)
    rank.group("exchange", [&] {
      rank.send(rank.number, 0);
      rank.receive(rank.number, 1);
      rank.send(1 - rank.number, 0, 5 + static_cast<size_t>(rank.number));
      rank.receive(1 - rank.number, 2, 6 - static_cast<size_t>(rank.number));
    });
  EXPECT_EQ(run(), "");
  for (Rank &rank : ranks) {
    rank.nccl.destroy(std::exchange(rank.communicator, nullptr));
    const std::string file = path + "." + std::to_string(rank.number);
    int sent = 0;
    std::ifstream(file) >> sent;
    EXPECT_EQ(sent, 5 + rank.number);
    std::filesystem::remove(file);
  }
  unsetenv("MTC_EMULATED_TRAFFIC");
}

/// Rank 0 sends slot 0 to slot 1 of rank 1.
void sendOne(std::deque<Rank> &ranks) {
  ranks[0].group("message", [&] { ranks[0].send(1, 0); });
  ranks[1].group("message", [&] { ranks[1].receive(0, 1); });
}

TEST_F(Nccl, RunsAgainInAGraph) {
  start(2);
  ExecutableGraph graphs[2];
  for (Rank &rank : ranks)
    EXPECT_EQ(rank.driver.beginCapture(rank.compute, relaxedCapture), success);
  sendOne(ranks);
  for (Rank &rank : ranks) {
    rank.read(rank.number);
    Graph captured = nullptr;
    EXPECT_EQ(rank.driver.endCapture(rank.compute, &captured), success);
    EXPECT_EQ(rank.driver.instantiate(&graphs[rank.number], captured, 0), success);
    EXPECT_EQ(rank.driver.destroyGraph(captured), success);
  }
  for (const int value : {3, 4}) {
    ranks[0].fill(0, value);
    for (Rank &rank : ranks)
      EXPECT_EQ(rank.driver.launchGraph(graphs[rank.number], rank.compute), success);
    EXPECT_EQ(run(), "");
    EXPECT_EQ(ranks[1].found, value);
  }
  for (Rank &rank : ranks)
    EXPECT_EQ(rank.driver.destroyExecutable(graphs[rank.number]), success);
}

TEST_F(Nccl, SendsWhatAMissingWaitOverwrites) {
  start(2);
  Rank &sender = ranks[0];
  sender.begin();
  sender.nccl.nameGroup("message", sender.messages);
  sender.send(1, 0);
  sender.fill(0, 99); // Without a wait for the message.
  sender.wait();
  ranks[1].group("message", [&] { ranks[1].receive(0, 1); });
  ranks[1].read(1);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(ranks[1].found, 99);
}

/// An error ends all emulated work of its process.
class NcclDeathTest : public Nccl {
protected:
  /// Expects that two ranks end with an error, in a child process.
  template <typename Matcher>
  void expectError(const std::function<void(Rank &, Rank &)> &body, const Matcher &expected) {
    EXPECT_EXIT(
        {
          start(2);
          body(ranks[0], ranks[1]);
          std::fputs(run().c_str(), stderr);
          std::_Exit(1);
        },
        testing::ExitedWithCode(1), expected);
  }
};

TEST_F(NcclDeathTest, ReceivedMemoryIsUninitializedUntilItIsWaitedFor) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        receiver.fill(1, 7);
        receiver.begin();
        receiver.nccl.nameGroup("message", receiver.messages);
        receiver.receive(0, 1);
        receiver.read(1); // Without a wait for the message.
        receiver.wait();
        sender.group("message", [&] { sender.send(1, 0); });
      },
      HasSubstr("1 bytes of which nothing was written"));
}

TEST_F(NcclDeathTest, UninitializedMemoryIsNotSent) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        sender.group("message", [&] { sender.send(1, 3); });
        receiver.group("message", [&] { receiver.receive(0, 1); });
      },
      HasSubstr("NCCL, emulated: rank 0 sends message 1 of group 1 (message) to rank 1: 64 bytes "
                "of type 0: 64 bytes of which nothing was written"));
}

TEST_F(NcclDeathTest, SizesMustMatch) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        sender.group("all_gather of a", [&] {
          sender.send(1, 0);
          sender.send(1, 0, 8);
        });
        receiver.group("all_gather of a", [&] {
          receiver.receive(0, 1);
          receiver.receive(0, 2, 16);
        });
      },
      HasSubstr("NCCL, emulated: rank 1 receives message 2 of group 1 (all_gather of a) from rank "
                "0: 16 bytes of type 0, but rank 0 sends message 2 of group 1 (all_gather of a): 8 "
                "bytes of type 0"));
}

TEST_F(NcclDeathTest, TypesMustMatch) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        sender.group("message", [&] { sender.send(1, 0, bytes / 4, 7); });
        receiver.group("message", [&] { receiver.receive(0, 1); });
      },
      HasSubstr("64 bytes of type 0, but rank 0 sends message 1 of group 1 (message): 64 bytes of "
                "type 7"));
}

TEST_F(NcclDeathTest, MessagesToItselfMustMatch) {
  expectError(
      [](Rank &rank, Rank &) {
        rank.group("message", [&] {
          rank.send(0, 0);
          rank.receive(0, 1, 8);
        });
      },
      HasSubstr("rank 0 receives message 1 of group 1 (message) from rank 0: 8 bytes of type 0, "
                "but rank 0 sends message 1 of group 1 (message) to rank 0: 64 bytes of type 0"));
  expectError([](Rank &rank, Rank &) { rank.group("message", [&] { rank.send(0, 0); }); },
              HasSubstr("rank 0 sends 1 messages of group 1 (message) to itself, but receives 0"));
}

TEST_F(NcclDeathTest, OrderMustMatch) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        for (const char *name : {"all_to_all of a", "all_to_all of b"})
          sender.group(name, [&] { sender.send(1, 0); });
        for (const char *name : {"all_to_all of b", "all_to_all of a"})
          receiver.group(name, [&] { receiver.receive(0, 1); });
      },
      HasSubstr("rank 1 receives message 1 of group 1 (all_to_all of b) from rank 0: 64 bytes of "
                "type 0, but rank 0 sends message 1 of group 1 (all_to_all of a)"));
}

TEST_F(NcclDeathTest, GroupsMustMatch) {
  expectError(
      [](Rank &sender, Rank &receiver) {
        sender.group("one", [&] {
          sender.send(0, 0);
          sender.receive(0, 1);
        });
        sender.group("message", [&] { sender.send(1, 0); });
        receiver.group("message", [&] { receiver.receive(0, 1); });
      },
      HasSubstr("but rank 0 sends message 1 of group 2 (message)"));
}

TEST_F(NcclDeathTest, AMessageWithoutReceiverDoesNotEnd) {
  expectError([](Rank &sender, Rank &) { sender.group("message", [&] { sender.send(1, 0); }); },
              "not all messages arrive");
}

TEST_F(NcclDeathTest, AnAbortedRankIsAnErrorOfTheOthers) {
  expectError(
      [&](Rank &aborted, Rank &other) {
        sendOne(ranks);
        EXPECT_EQ(run(), "");
        aborted.nccl.abort(std::exchange(aborted.communicator, nullptr));
        other.group("message", [&] { other.receive(0, 1); });
        EXPECT_EQ(run(), "not all messages arrive");
        int status = done;
        other.nccl.asynchronousStatus(other.communicator, &status);
        std::fprintf(stderr, "%s: %s", other.nccl.statusText(status),
                     other.nccl.lastError(other.communicator));
      },
      "remote process exited or there was a network error: rank 0 has ended");
}

TEST_F(Nccl, RefusesInvalidCalls) {
  start(1);
  const Rank &rank = ranks.front();
  auto expectStatus = [&](int status, int expected, const char *words) {
    EXPECT_EQ(status, expected);
    EXPECT_STREQ(rank.nccl.lastError(nullptr), words);
  };
  expectStatus(rank.nccl.send(rank.at(0), 1, byteType, 1, rank.communicator, rank.messages),
               invalidArgument, "there is no rank 1");
  expectStatus(rank.nccl.receive(rank.at(0), 1, 99, 0, rank.communicator, rank.messages),
               invalidArgument, "there is no type 99");
  expectStatus(rank.nccl.endGroup(), invalidUsage, "a group is ended that was not begun");
  Communicator other = nullptr;
  UniqueId elsewhere = {"elsewhere mtc-nccl-1-1"};
  expectStatus(rank.nccl.create(&other, 1, elsewhere, 0), invalidUsage,
               "emulated NCCL supports ranks on one machine only");
  expectStatus(rank.nccl.create(&other, 1, id, 1), invalidArgument, "no such rank or id");
}

} // namespace
