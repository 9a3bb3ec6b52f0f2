//===- PlanPage.h - A plan as a page for browsers ---------------------------------------------===//

#ifndef MTC_DRIVER_PLANPAGE_H
#define MTC_DRIVER_PLANPAGE_H

#include "passes/memory/MemoryTimeline.h"

#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// Writes one HTML file that needs nothing else: what lies where in the arena while the steps run,
/// with what each value is and why it is kept. Its data are JSON, in the element `data`.
void writePlanPage(const MemoryTimeline &timeline, llvm::StringRef model, llvm::StringRef target,
                   llvm::raw_ostream &stream);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANPAGE_H
