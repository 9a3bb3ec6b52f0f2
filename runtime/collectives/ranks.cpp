// Waits poll, so that a rank that has died or stopped is noticed.
#include "runtime/collectives/ranks.h"

#include "runtime/collectives/piece_exchange.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <thread>
#include <unistd.h>

namespace mtc::runtime {

static std::string hostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// Returns messages of `bytes` bytes to and from each other rank; rank r's are at memory + r *
/// bytes.
static std::unique_ptr<Exchange> prepareGather(Transport &transport, char *memory, int64_t bytes) {
  const auto count = static_cast<size_t>(transport.count());
  std::vector<Message> sent(count), received(count);
  for (size_t r = 0; r < count; ++r)
    if (static_cast<int>(r) != transport.rank()) {
      sent[r].ranges = {{memory + transport.rank() * bytes, bytes}};
      received[r].ranges = {{memory + static_cast<int64_t>(r) * bytes, bytes}};
    }
  return transport.prepare(std::move(sent), std::move(received), PreparedBy::All);
}

namespace {

/// Ends the process if the object lives longer than a limit, in which a call may block.
class Watchdog {
public:
  Watchdog(std::chrono::duration<double> limit, std::string problem)
      : thread([this, limit, problem = std::move(problem)] {
          if (isDone.try_acquire_for(limit))
            return;
          writeToStandardError(
              text("error: ", problem, " after ", limit.count(), " s. --timeout sets the limit"));
          std::_Exit(exitSystemFault); // The launcher ends the other ranks.
        }) {}
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;
  ~Watchdog() {
    isDone.release();
    thread.join();
  }

private:
  std::binary_semaphore isDone{0};
  std::thread thread;
};

} // namespace

Ranks::Ranks(OpenTransport open, double seconds) : timeout(seconds) {
  if (!open)
    return;
  {
    const Watchdog watchdog(timeout, text("host ", hostName(), ": not all ranks have started"));
    transport = open();
  }
  const auto count = static_cast<size_t>(transport->count());
  values.resize(count);
  texts.resize(count * textBytes);
  alarms.resize(count);
  ofValues = prepareGather(*transport, reinterpret_cast<char *>(values.data()), sizeof(int64_t));
  ofTexts = prepareGather(*transport, texts.data(), textBytes);
  ofAlarms = prepareGather(*transport, alarms.data(), 1);
  barrier = transport->prepareBarrier();
  hosts = gather(hostName());
}

Ranks::~Ranks() = default;

std::unique_ptr<Exchange> Ranks::prepareFrom(int sender, Message::Range memory,
                                             const std::function<bool(int)> &receives) {
  const auto ranks = static_cast<size_t>(count());
  std::vector<Message> sent(ranks), received(ranks);
  const Message message{{memory}};
  for (int r = 0; r < count(); ++r)
    if (r != sender && receives(r)) {
      if (rank() == sender)
        sent[static_cast<size_t>(r)] = message;
      else if (rank() == r)
        received[static_cast<size_t>(sender)] = message;
    }
  return prepare(std::move(sent), std::move(received));
}

void Ranks::preparePieces() { ofPieces = std::make_unique<PieceExchange>(*this); }

std::string Ranks::describe(int rank) const {
  const auto index = static_cast<size_t>(rank);
  return text("rank ", rank, index < hosts.size() ? text(" (host ", hosts[index], ")") : "");
}

/// If MPI does not connect the processes of the launcher, returns the probable reason; ""
/// otherwise.
static const char *whyApart() {
  if (std::getenv("TORCHELASTIC_RUN_ID"))
    return " (torchrun does not connect the processes of an MPI program)";
  if (std::getenv("SLURM_PROCID"))
    return " (srun connects processes of Open MPI with --mpi=pmix)";
  return "";
}

void Ranks::checkCount(int64_t expected) const {
  if (count() != expected)
    userError("this program was compiled for ", expected, " ranks, but the launcher started ",
              count(), count() == 1 ? " process" : " processes", count() == 1 ? whyApart() : "",
              "; start it with mpirun -n ", expected,
              count() == 1
                  ? text(". A program of the same model without --ranks evaluates, exports "
                         "and resumes its checkpoints in one process")
                  : text(", or compile it with --ranks ", count()));
}

bool Ranks::waitFor(Exchange &exchange, std::chrono::duration<double> limit) {
  // Ranks may share cores: after a short time of polling, leave them to the others.
  constexpr std::chrono::duration<double> eager = std::chrono::milliseconds(1);
  // A process that was stopped itself must not blame the others for that time.
  constexpr std::chrono::duration<double> longestGap = std::chrono::milliseconds(100);
  std::chrono::duration<double> waited{0}, silence{0};
  Clock::time_point last = Clock::now();
  while (!exchange.poll()) {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> gap =
        std::min<std::chrono::duration<double>>(now - std::exchange(last, now), longestGap);
    waited += gap;
    silence = exchange.restartsLimit() ? gap : silence + gap;
    if (silence > limit)
      return false;
    if (waited < eager) {
      std::this_thread::yield();
      continue;
    }
    if (idle)
      idle();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

void Ranks::wait(Exchange &exchange, const std::string &what) {
  if (waitFor(exchange))
    return;
  // Ranks that wait for a silent one, as of another group, reach the end of their limits, too.
  std::vector<int> silent = exchange.pending();
  const std::vector<int> unaware = findSilent();
  std::erase_if(silent, [&](int rank) { return std::ranges::count(unaware, rank) == 0; });
  reportSilence(silent.empty() ? unaware : silent, what);
  abort(exitSystemFault);
}

std::vector<int> Ranks::findSilent() {
  ofAlarms->start();
  waitFor(*ofAlarms, patience());
  return ofAlarms->pending();
}

void Ranks::reportSilence(const std::vector<int> &ranks, const std::string &what) const {
  std::string silent;
  for (const int each : ranks)
    silent += (silent.empty() ? "" : ", ") + describe(each);
  // The message bypasses the sink of a rank that prints nothing otherwise.
  writeToStandardError(text("error: ", describe(rank()), ": no answer for ", timeout.count(),
                            " s from ", silent.empty() ? "the network" : silent, position(), ": ",
                            what, "; all ranks end. --timeout sets the limit"));
}

void Ranks::endAfterOthers(const std::string &error) {
  // A rank with an error of its own ends all ranks after `patience` (see `endTogether`).
  std::this_thread::sleep_for(patience() + std::chrono::seconds(1));
  writeToStandardError(
      text("error: ", describe(rank()), ": ", error, position(), "; all ranks end"));
  abort(exitSystemFault);
}

void Ranks::runWithinLimit(const std::string &problem, const std::function<void()> &call) {
  const Watchdog watchdog(timeout, text(describe(rank()), ": ", problem));
  call();
}

std::string Ranks::position() const {
  if (batch)
    return text(" in batch ", batch, step ? text(" after step ", step) : "");
  return step ? text(" in step ", step) : " before the first step";
}

void Ranks::exchangeValues(int64_t value, const char *what) {
  values[static_cast<size_t>(rank())] = value;
  ofValues->start();
  wait(*ofValues, what);
}

int64_t Ranks::maximum(int64_t value, const char *what) {
  if (!transport)
    return value;
  exchangeValues(value, what);
  return *std::max_element(values.begin(), values.end());
}

int64_t Ranks::fromLeader(int64_t value, const char *what) {
  if (!transport)
    return value;
  exchangeValues(value, what);
  return values.front();
}

std::vector<std::string> Ranks::gather(const std::string &own) {
  if (!transport)
    return {own};
  constexpr const char *what = "agreement of the ranks";
  const auto longest = static_cast<size_t>(maximum(static_cast<int64_t>(own.size()), what));
  std::vector<std::string> all(static_cast<size_t>(count()));
  for (size_t at = 0; at < longest; at += textBytes) {
    const auto slotOf = [&](size_t rank) { return texts.data() + rank * textBytes; };
    const std::string part = own.substr(std::min(at, own.size()), textBytes);
    char *slot = slotOf(static_cast<size_t>(rank()));
    std::fill_n(slot, textBytes, '\0');
    std::copy_n(part.data(), part.size(), slot);
    ofTexts->start();
    wait(*ofTexts, what);
    for (size_t r = 0; r < all.size(); ++r)
      all[r].append(slotOf(r), strnlen(slotOf(r), textBytes));
  }
  return all;
}

/// Returns the values of lines "name\tvalue".
static std::vector<std::string> valuesOf(const std::string &lines) {
  std::vector<std::string> values;
  for (size_t at = 0; at < lines.size();) {
    const size_t tab = lines.find('\t', at), end = lines.find('\n', at);
    if (tab == std::string::npos || end == std::string::npos)
      break;
    values.push_back(lines.substr(tab + 1, end - tab - 1));
    at = end + 1;
  }
  return values;
}

void Ranks::agree(const std::vector<Setting> &settings) {
  if (!transport)
    return;
  std::string own;
  for (const Setting &each : settings)
    own += text(each.name, '\t', each.value, '\n');
  std::vector<std::vector<std::string>> all; // by rank
  for (const std::string &lines : gather(own))
    all.push_back(valuesOf(lines));
  Problems problems;
  for (int r = 1; r < count(); ++r) {
    const std::vector<std::string> &found = all[static_cast<size_t>(r)];
    for (size_t i = 0; i < settings.size(); ++i) {
      const int first = settings[i].isOfStage ? r / countOfStage() * countOfStage() : 0;
      const std::vector<std::string> &expected = all[static_cast<size_t>(first)];
      if (i >= found.size() || i >= expected.size())
        problems.add(describe(r), " runs another version of the program");
      else if (found[i] != expected[i])
        problems.add(describe(r), ": ", settings[i].name, " ", found[i], ", expected ", expected[i],
                     " as on ", describe(first));
    }
  }
  problems.throwIfAny();
}

bool Ranks::endTogether() {
  if (!transport)
    return true;
  barrier->start();
  return waitFor(*barrier, patience());
}

void Ranks::abort(int exitCode) {
  // The launcher forwards messages, but not after it has learned of the abort.
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (!transport)
    std::_Exit(exitCode);
  transport->abort(exitCode);
}

} // namespace mtc::runtime
