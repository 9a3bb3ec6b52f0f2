//===- StoredOperands.cpp - Calls that read their operands as stored --------------------------===//

#include "passes/algorithms/AlgorithmRemoval.h"
#include "passes/planning/Technique.h"

using namespace mtc;

namespace mtc {
void addStoredOperandsTechniques(std::vector<Technique> &techniques) {
  Technique technique{"stored-operands", "calls without packed operands", Stage::Allocated,
                      Effect::Order};
  technique.make = [](const FunctionBudget &budget, OperationTimes &times, const FitOptions &) {
    return std::make_unique<AlgorithmRemoval>(budget, times);
  };
  techniques.push_back(std::move(technique));
}
} // namespace mtc
