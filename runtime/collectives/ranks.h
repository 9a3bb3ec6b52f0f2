// The ranks of a run: waits with a time limit, agreement, and the traffic of each collective.
#ifndef MTC_RUNTIME_COLLECTIVES_RANKS_H
#define MTC_RUNTIME_COLLECTIVES_RANKS_H

#include "runtime/abi/collective.h"
#include "runtime/collectives/transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

class PieceExchange;

/// The processes that train together. A single process has rank 0 of 1 and no transport.
class Ranks {
public:
  /// Opens the transport; null for a single process. `timeout` is the limit of all waits, in
  /// seconds.
  explicit Ranks(OpenTransport open, double timeout = 60);
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  int rank() const { return transport ? transport->rank() : 0; }
  int count() const { return transport ? transport->count() : 1; }
  int countOfMachine() const { return transport ? transport->countOfMachine() : 1; }
  int rankOnMachine() const { return transport ? transport->rankOnMachine() : 0; }
  /// Sets the number of consecutive ranks that share each layer or sequence, and therefore have the
  /// same samples: a divisor of the number of ranks of a stage.
  void setSharingRanks(int64_t number) { sharingRanks = static_cast<int>(number); }
  /// Sets the number of pipeline stages: a divisor of the number of ranks. `resultsStage` is the
  /// stage that has the results of forward runs.
  void setStages(int64_t number, int64_t resultsStage) {
    stages = static_cast<int>(number);
    stageOfResults = static_cast<int>(resultsStage);
  }
  /// Returns the number of ranks of a pipeline stage.
  int countOfStage() const { return count() / stages; }
  /// Returns the number of ranks of a stage, or of groups that share samples, with samples of their
  /// own.
  int dataCount() const { return countOfStage() / sharingRanks; }
  /// Returns the number of this rank, or of its group, among them.
  int dataRank() const { return rank() % countOfStage() / sharingRanks; }
  /// Returns the rank that sends the results of number `dataRank` among them to rank 0.
  int senderOf(int dataRank) const {
    return stageOfResults * countOfStage() + dataRank * sharingRanks;
  }
  /// Returns whether this rank prints and writes files.
  bool isLeader() const { return rank() == 0; }

  /// Throws a user error if the number of processes differs from the program's.
  void checkCount(int64_t expected) const;
  /// Sets the step that messages about silent ranks name.
  void setStep(int64_t number) { step = number; }
  /// Sets the batch (from 1) of a forward run that messages about silent ranks name; 0: none.
  void setBatch(int64_t number) { batch = number; }

  std::unique_ptr<Exchange> prepare(std::vector<Message> sent, std::vector<Message> received,
                                    PreparedBy by = PreparedBy::All) {
    return transport->prepare(std::move(sent), std::move(received), by);
  }
  /// Prepares a message to or from rank `rank`: see Transport::prepareMessage.
  std::unique_ptr<Exchange> prepareMessage(const Message &message, int rank, bool isSent,
                                           uint32_t channel) {
    return transport->prepareMessage(message, rank, isSent, channel);
  }
  /// Prepares a message from a rank to each other rank for which `receives` returns true. `memory`
  /// is that of the calling rank. All ranks must call it.
  std::unique_ptr<Exchange> prepareFrom(int sender, Message::Range memory,
                                        const std::function<bool(int)> &receives);
  /// Waits for an exchange that was started. If it does not complete within the time limit, reports
  /// the ranks that it waits for and that do not wait themselves, and ends all ranks.
  void wait(Exchange &exchange, const std::string &what);
  /// Waits for an exchange that was started. Returns false after the time limit.
  bool waitFor(Exchange &exchange) { return waitFor(exchange, timeout); }
  /// Waits for the time after which a rank ends without the others. Returns false after it.
  bool waitBriefly(Exchange &exchange) { return waitFor(exchange, patience()); }
  /// Returns the ranks that do not notice the end of a time limit, as running ranks do.
  std::vector<int> findSilent();
  /// Reports the silent ranks of a wait for `what`, before all ranks end.
  void reportSilence(const std::vector<int> &silent, const std::string &what) const;
  /// Ends all ranks because of an error that another rank may have caused. Waits first, so that the
  /// other rank has time to report the cause.
  [[noreturn]] void endAfterOthers(const std::string &error);
  /// Runs a call that may block until other ranks make the same call. Ends the process after the
  /// time limit, with a message that begins with `problem`.
  void runWithinLimit(const std::string &problem, const std::function<void()> &call);
  /// Sets a function that is called repeatedly while this rank waits for others; null: none.
  void whileWaiting(std::function<void()> action) { idle = std::move(action); }

  /// Returns the maximum of the ranks' values. All ranks must call it.
  int64_t maximum(int64_t value, const char *what = "agreement on the next step");
  /// Returns the value of rank 0. All ranks must call it.
  int64_t fromLeader(int64_t value, const char *what);
  /// Returns the texts of all ranks. All ranks must call it.
  std::vector<std::string> gather(const std::string &text);
  static constexpr size_t textBytes = 4096; ///< of a message of `gather`
  /// A setting on which ranks agree.
  struct Setting {
    std::string name, value;
    bool isOfStage = false; ///< only the ranks of a stage agree
  };
  /// Throws a user error that names each difference between the ranks' settings. All ranks must
  /// call it.
  void agree(const std::vector<Setting> &settings);
  /// Called by a rank that ends with an error. Returns whether all ranks end at the same time, as
  /// with an error that all have.
  bool endTogether();
  [[noreturn]] void abort(int exitCode);

  /// Prepares the exchange of pieces of variables. All ranks must call it.
  void preparePieces();
  /// Returns the exchange of pieces; null if the ranks never wait for rank 0 to write files.
  PieceExchange *pieces() { return ofPieces.get(); }

  /// Counts bytes that a collective has sent to other ranks.
  void countSent(uint32_t kind, int64_t bytes) { sent[kind] += bytes; }
  int64_t sentBytes(MtcCollectiveKind kind) const { return sent[kind]; }
  /// Counts bytes of messages to other pipeline stages.
  void countSentToStages(int64_t bytes) { sentToOtherStages += bytes; }
  int64_t sentToStages() const { return sentToOtherStages; }
  /// Returns "rank 1 (host a)".
  std::string describe(int rank) const;

private:
  using Clock = std::chrono::steady_clock;

  /// Polls until the exchange has completed. Returns false after `limit`.
  bool waitFor(Exchange &exchange, std::chrono::duration<double> limit);
  std::chrono::duration<double> patience() const {
    return std::min<std::chrono::duration<double>>(std::chrono::seconds(5), timeout / 2);
  }
  /// Stores the values of all ranks in `values`.
  void exchangeValues(int64_t value, const char *what);
  /// Returns the position of the run for messages, such as " in step 3".
  std::string position() const;

  std::unique_ptr<Transport> transport;
  std::vector<int64_t> values; ///< of `maximum` and `fromLeader`, by rank
  std::vector<char> texts;     ///< of `gather`, by rank
  std::vector<char> alarms;    ///< of `findSilent`, by rank
  std::unique_ptr<Exchange> ofValues, ofTexts, ofAlarms, barrier;
  std::function<void()> idle;
  std::unique_ptr<PieceExchange> ofPieces;
  std::vector<std::string> hosts;
  std::chrono::duration<double> timeout;
  int sharingRanks = 1, stages = 1, stageOfResults = 0;
  int64_t step = 0, batch = 0;
  std::array<int64_t, 3> sent{};
  int64_t sentToOtherStages = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_RANKS_H
