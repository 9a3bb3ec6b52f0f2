//===- FitSearch.h - Search for the fastest plan with allowed changes -------------------------===//

#ifndef MTC_DRIVER_FITSEARCH_H
#define MTC_DRIVER_FITSEARCH_H

#include "driver/Compilation.h"

namespace mtc::tool {

/// With `--memory` and `--allow`, plans the program with each combination of allowed changes, and
/// sets `options` to the combination with the lowest estimated step time that meets the budget, or
/// with fewer changes among equals.
/// Reports the choice. If no combination meets the budget, selects the one with the lowest peak,
/// which is later rejected. Returns the compilation of the selected combination, in the state in
/// which it was planned, or null with a diagnostic if the model cannot be planned.
std::unique_ptr<Compilation> chooseAllowed(Options &options);

} // namespace mtc::tool

#endif // MTC_DRIVER_FITSEARCH_H
