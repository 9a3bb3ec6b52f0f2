// Messages are persistent requests of point-to-point communication, so that a step allocates
// nothing and the order of summation is the program's, not that of a reduction by MPI.
#include "runtime/collectives/mpi/transport.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <cstdlib>
#include <mpi.h>

namespace mtc::runtime {
namespace {

void check(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return;
  char message[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, message, &length);
  systemError("MPI: ", what, " failed: ", std::string(message, static_cast<size_t>(length)));
}

class MpiExchange final : public Exchange {
public:
  MpiExchange() = default;
  MpiExchange(const MpiExchange &) = delete;
  MpiExchange &operator=(const MpiExchange &) = delete;
  ~MpiExchange() override {
    for (Request &each : requests)
      MPI_Request_free(&each.request);
    for (MPI_Datatype &type : types)
      MPI_Type_free(&type);
  }

  /// The other side of a message.
  struct Peer {
    int rank, tag;
    MPI_Comm communicator;
  };

  /// Adds a message, which this rank sends if `isSent` is set and otherwise receives.
  void add(const Message &message, const Peer &peer, bool isSent) {
    // MPI moves a contiguous range without copies of its own, and packs the ranges of a type. Both
    // sides divide a message alike, and MPI keeps the order of messages.
    Message packed;
    for (const Message::Range &range : message.ranges)
      if (range.bytes < bytesOfOwnRequest)
        packed.ranges.push_back(range);
      else
        for (int64_t at = 0; at < range.bytes; at += maxBytes)
          addRequest(range.data + at, static_cast<int>(std::min(maxBytes, range.bytes - at)),
                     MPI_BYTE, peer, isSent);
    if (!packed.ranges.empty())
      addRequest(MPI_BOTTOM, 1, typeOf(packed), peer, isSent);
  }

  void start() override {
    for (Request &each : requests) {
      check(MPI_Start(&each.request), "MPI_Start");
      each.isDone = false;
    }
  }

  bool poll() override {
    bool isDone = true;
    for (Request &each : requests) {
      if (each.isDone)
        continue;
      int flag = 0;
      check(MPI_Test(&each.request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
      each.isDone = flag != 0;
      isDone = isDone && each.isDone;
    }
    return isDone;
  }

  std::vector<int> pending() const override {
    std::vector<int> ranks;
    for (const Request &each : requests)
      if (!each.isDone && std::find(ranks.begin(), ranks.end(), each.rank) == ranks.end())
        ranks.push_back(each.rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

private:
  struct Request {
    MPI_Request request;
    int rank;
    bool isDone;
  };

  static constexpr int64_t bytesOfOwnRequest = 64 << 10;
  static constexpr int64_t maxBytes = 1 << 30; // MPI counts in int.

  void addRequest(void *data, int count, MPI_Datatype type, const Peer &peer, bool isSent) {
    const auto &[rank, tag, communicator] = peer;
    MPI_Request request = MPI_REQUEST_NULL;
    check(isSent ? MPI_Send_init(data, count, type, rank, tag, communicator, &request)
                 : MPI_Recv_init(data, count, type, rank, tag, communicator, &request),
          isSent ? "MPI_Send_init" : "MPI_Recv_init");
    requests.push_back({request, rank, /*isDone=*/true});
  }

  /// Returns a type that consists of the ranges at their addresses.
  MPI_Datatype typeOf(const Message &message) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    for (const Message::Range &range : message.ranges) {
      lengths.push_back(static_cast<int>(range.bytes));
      MPI_Get_address(range.data, &addresses.emplace_back());
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                   addresses.data(), MPI_BYTE, &type),
          "MPI_Type_create_hindexed");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    types.push_back(type);
    return type;
  }

  std::vector<Request> requests;
  std::vector<MPI_Datatype> types;
};

class MpiBarrier final : public Exchange {
public:
  explicit MpiBarrier(MPI_Comm communicator) : communicator(communicator) {}
  void start() override { check(MPI_Ibarrier(communicator, &request), "MPI_Ibarrier"); }
  bool poll() override {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  }
  std::vector<int> pending() const override { return {}; }

private:
  MPI_Comm communicator;
  MPI_Request request = MPI_REQUEST_NULL;
};

class MpiTransport final : public Transport {
public:
  MpiTransport() {
    int provided = 0;
    // The training thread makes all calls of MPI.
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &ownRank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm machine = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
          "MPI_Comm_split_type");
    MPI_Comm_size(machine, &sizeOfMachine);
    MPI_Comm_rank(machine, &ownRankOnMachine);
    MPI_Comm_free(&machine);
    // The communicator is separate, because a rank that ends early may have started other
    // exchanges.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ofBarriers), "MPI_Comm_dup");
    // Stages have different numbers of exchanges, and messages have tags of their own, so that both
    // are apart from the exchanges of all ranks.
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ofStages), "MPI_Comm_dup");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &ofMessages), "MPI_Comm_dup");
  }
  MpiTransport(const MpiTransport &) = delete;
  MpiTransport &operator=(const MpiTransport &) = delete;
  ~MpiTransport() override {
    for (MPI_Comm *each : {&ofBarriers, &ofStages, &ofMessages})
      MPI_Comm_free(each);
    MPI_Finalize();
  }

  int rank() const override { return ownRank; }
  int count() const override { return size; }
  int countOfMachine() const override { return sizeOfMachine; }
  int rankOnMachine() const override { return ownRankOnMachine; }

  std::unique_ptr<Exchange> prepare(std::vector<Message> sent, std::vector<Message> received,
                                    PreparedBy by) override {
    auto exchange = std::make_unique<MpiExchange>();
    const bool isOfAll = by == PreparedBy::All;
    const int tag = isOfAll ? nextTag++ : nextTagOfStage++;
    MPI_Comm communicator = isOfAll ? MPI_COMM_WORLD : ofStages;
    // Receives first, so that messages that arrive early need no buffer.
    for (int rank = 0; rank < size; ++rank)
      exchange->add(received[static_cast<size_t>(rank)], {rank, tag, communicator},
                    /*isSent=*/false);
    // Each rank begins with its successor, so that not all send to rank 0 at once.
    for (int i = 1; i < size; ++i) {
      const int rank = (ownRank + i) % size;
      exchange->add(sent[static_cast<size_t>(rank)], {rank, tag, communicator}, /*isSent=*/true);
    }
    return exchange;
  }

  std::unique_ptr<Exchange> prepareMessage(const Message &message, int rank, bool isSent,
                                           uint32_t channel) override {
    auto exchange = std::make_unique<MpiExchange>();
    exchange->add(message, {rank, static_cast<int>(channel), ofMessages}, isSent);
    return exchange;
  }

  std::unique_ptr<Exchange> prepareBarrier() override {
    return std::make_unique<MpiBarrier>(ofBarriers);
  }

  [[noreturn]] void abort(int exitCode) override {
    MPI_Abort(MPI_COMM_WORLD, exitCode);
    std::abort(); // MPI_Abort is not declared as a function that does not return.
  }

private:
  int ownRank = 0, size = 1, sizeOfMachine = 1, ownRankOnMachine = 0, nextTag = 1,
      nextTagOfStage = 1;
  MPI_Comm ofBarriers = MPI_COMM_NULL, ofStages = MPI_COMM_NULL, ofMessages = MPI_COMM_NULL;
};

} // namespace

std::unique_ptr<Transport> openMpi() { return std::make_unique<MpiTransport>(); }

} // namespace mtc::runtime
