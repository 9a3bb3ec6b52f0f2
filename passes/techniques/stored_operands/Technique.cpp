//===- Technique.cpp - Calls that read their operands as stored -------------------------------===//

#include "passes/planning/TechniqueKind.h"
#include "passes/ways/WayRemoval.h"

using namespace mtc;

namespace mtc::techniques {
TechniqueKind makeStoredOperands();
} // namespace mtc::techniques

TechniqueKind mtc::techniques::makeStoredOperands() {
  TechniqueKind kind{"stored-operands", "calls without packed operands", Stage::Allocated,
                     Effect::Order};
  kind.make = [](const Goal &goal, OperationTimes &times, const FitOptions &) {
    return std::make_unique<WayRemoval>(goal, times);
  };
  return kind;
}
