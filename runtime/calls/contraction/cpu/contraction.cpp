// Chooses between panels and loops.
#include "runtime/calls/contraction/cpu/contraction.h"

#include "runtime/calls/contraction/cpu/loops.h"
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/calls/contraction/problem.h"

namespace mtc::runtime {

bool isFasterAsKernel(const MtcContraction &contraction) {
  constexpr int64_t smallMatrix = 6, fewTerms = 2;
  ContractionProblem p = simplifyContraction(contraction);
  if (p.isEmpty() || p.k() == 0 || contraction.lhs_storage || contraction.rhs_storage)
    return false;
  bool isSmall = p.m() <= smallMatrix && p.n() <= smallMatrix && p.k() <= smallMatrix;
  bool isVector = p.m() == 1 || p.n() == 1;
  bool isInOrder = p.lhs.columnStride == 1 && p.rhs.rowStride == 1;
  return isSmall || (isVector && isInOrder) || p.k() <= fewTerms;
}

static const MtcContraction &recordOf(const void *record) {
  return *static_cast<const MtcContraction *>(record);
}

static std::unique_ptr<LibraryCall> createCall(const void *record, int threads, bool) {
  const MtcContraction &contraction = recordOf(record);
  if (contraction.activation != MTC_NO_ACTIVATION || contraction.summed != MTC_NOTHING_SUMMED)
    return nullptr;
  threads = usefulThreads(contractionFlops(contraction), threads);
  ContractionProblem problem = simplifyContraction(contraction);
  if (auto result = createPanelContraction(contraction, problem, threads, machineVectors()))
    return result;
  return createLoopContraction(contraction, problem, threads);
}

const CallKind contractionCalls = {MTC_CONTRACTION, createCall, [](const void *record) {
                                     return isFasterAsKernel(recordOf(record));
                                   }};

} // namespace mtc::runtime
