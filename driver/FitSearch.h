//===- FitSearch.h - The fastest program that fits --------------------------------------------===//

#ifndef MTC_DRIVER_FITSEARCH_H
#define MTC_DRIVER_FITSEARCH_H

#include "driver/Compilation.h"

namespace mtc::tool {

/// With `--memory` and `--allow` or `--offload auto`, plans the program with each combination of
/// the changes that are allowed, and of what may be offloaded, and gives the options those of the
/// fastest that fits, by the estimate of a step's time; among equals, the one with the fewest
/// changes. Says what was chosen. Where none fits, the one that needs the least is taken, which is
/// then refused. Gives the compilation of what was chosen, which is as far as it was planned; null,
/// with a message, where the model cannot be planned.
std::unique_ptr<Compilation> chooseAllowed(Options &options);

} // namespace mtc::tool

#endif // MTC_DRIVER_FITSEARCH_H
