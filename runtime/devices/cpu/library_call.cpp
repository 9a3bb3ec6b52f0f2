// Dispatches library calls by kind, and answers the compiler's queries.
#include "runtime/devices/cpu/library_call.h"

#include "runtime/devices/cpu/onednn.h"

#include <algorithm>
#include <cstdlib>

namespace mtc::runtime {

std::unique_ptr<LibraryCall> LibraryCall::create(const char *kind, const void *description,
                                                 int threads, bool executable) {
  const CallKind *known = findCallKind(kind);
  return known ? known->create(description, threads, executable) : nullptr;
}

} // namespace mtc::runtime

using mtc::runtime::LibraryCall;

/// Calls `ask` for the thread counts up to `threads`: each small count, but only powers of two of
/// large ones.
template <typename Ask> static void forThreadCounts(int threads, const Ask &ask) {
  for (int t = 1; t < threads; t = t < 16 ? t + 1 : t * 2)
    ask(t);
  ask(std::max(threads, 1));
}

extern "C" int64_t mtc_call_scratch_bytes(const char *kind, const void *description, int threads) {
  int64_t result = 0;
  forThreadCounts(threads, [&](int t) {
    auto plan = LibraryCall::create(kind, description, t, false);
    result = plan && result >= 0 ? std::max(result, plan->scratchBytes()) : -1;
  });
  return result;
}

extern "C" MtcSupportLevel mtc_call_support_level(const char *kind, const void *description,
                                                  int threads) {
  auto plan = LibraryCall::create(kind, description, threads, false);
  return plan ? plan->supportLevel() : MTC_CALL_UNSUPPORTED;
}

extern "C" int mtc_call_is_faster_as_kernel(const char *kind, const void *description) {
  const mtc::runtime::CallKind *known = mtc::runtime::findCallKind(kind);
  return known && known->isFasterAsKernel(description);
}

extern "C" int mtc_multiplies(uint32_t type) {
  return mtc::runtime::libraryMultiplies(type) ? 1 : 0;
}

extern "C" int mtc_call_run(const MtcCall *call, char *const *buffers) {
  auto prepared = LibraryCall::create(call->kind, call->description, 1);
  if (!prepared)
    return 0;
  auto bytes = static_cast<size_t>(prepared->scratchBytes() + MTC_ALIGNMENT);
  std::unique_ptr<char, decltype(&std::free)> scratch(
      static_cast<char *>(std::aligned_alloc(MTC_ALIGNMENT, bytes / MTC_ALIGNMENT * MTC_ALIGNMENT)),
      std::free);
  prepared->run(buffers, scratch.get());
  return 1;
}
