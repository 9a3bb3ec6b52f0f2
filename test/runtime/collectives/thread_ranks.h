// Ranks that are threads of this process, with a transport through shared memory.
#ifndef MTC_TEST_RUNTIME_COLLECTIVES_THREADRANKS_H
#define MTC_TEST_RUNTIME_COLLECTIVES_THREADRANKS_H

#include "runtime/collectives/ranks.h"

#include <functional>
#include <string>
#include <vector>

namespace mtc::test {

/// A rank throws this exception to end all ranks.
struct Aborted {
  int exitCode;
};

/// The result of a rank.
struct RankResult {
  int abortedWith = -1; ///< exit code of an abort; -1: none
  std::string error;    ///< message of a Failure; "": none
};

/// Runs `body` on `count` threads, each of which is a rank, and returns the result of each rank. A
/// message is delivered when its receiver polls, which is the latest time at which a transport may
/// deliver it. Until then, the destination holds `poison`.
std::vector<RankResult> runRanks(int count, const std::function<void(runtime::Ranks &)> &body,
                                 double timeout = 30);
constexpr char poison = 0x5a;

/// Opens the transport of the calling rank of `runRanks`.
std::unique_ptr<runtime::Transport> openThreads();

} // namespace mtc::test

#endif // MTC_TEST_RUNTIME_COLLECTIVES_THREADRANKS_H
