//===- FitOptions.h - Options of mtc-fit ------------------------------------------------------===//

#ifndef MTC_PASSES_PLANNING_FITOPTIONS_H
#define MTC_PASSES_PLANNING_FITOPTIONS_H

#include "passes/offload/OffloadOptions.h"
#include "passes/recompute/RecomputeOptions.h"
#include "passes/tiling/TileOptions.h"

namespace mtc {

/// Options of mtc-fit.
struct FitOptions {
  TileOptions tile;
  RecomputeOptions recompute;
  OffloadOptions offload;
  std::optional<int64_t> memory;       ///< Budget of the arena in bytes.
  bool minimizeIfMissed = true;        ///< Search for the smallest peak if the budget is missed.
  std::optional<double> maxSeconds;    ///< Longest update of interest.
  std::optional<double> searchSeconds; ///< Time of the search.

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&FitOptions::tile, option);
    visitMember(&FitOptions::recompute, option);
    visitMember(&FitOptions::offload, option);
    option(&FitOptions::memory, {"memory", "", "Memory budget of the arena in bytes"});
    option(&FitOptions::minimizeIfMissed,
           {"minimize-if-missed", "", "Search for the smallest peak if the budget cannot be met"});
    option(&FitOptions::maxSeconds,
           {"max-seconds", "", "Estimated seconds of the longest update of interest"});
    option(&FitOptions::searchSeconds,
           {"search-seconds", "", "Seconds after which the search ends with the best plan found"});
  }
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_FITOPTIONS_H
