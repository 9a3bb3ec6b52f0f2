//===- PlanPage.h - Memory plan as an HTML page -----------------------------------------------===//

#ifndef MTC_DRIVER_PLANPAGE_H
#define MTC_DRIVER_PLANPAGE_H

#include "passes/memory/MemoryTimeline.h"

#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// Writes a self-contained HTML file that shows the offsets and live ranges of all values in the
/// arena, with the description of each value and why it is live. `techniques` describes those that
/// lowered the peak; "" if there are none. The data is stored as JSON in the element `data`.
void writePlanPage(const MemoryTimeline &timeline, llvm::StringRef model, llvm::StringRef target,
                   llvm::StringRef techniques, llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANPAGE_H
