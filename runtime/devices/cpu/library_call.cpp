// Dispatches library calls by kind, and answers the compiler's queries.
#include "runtime/devices/cpu/library_call.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace mtc::runtime {

const CallKind *CallLibrary::find(const char *kind) const {
  for (const CallLibrary *library : {this, &builtInLibrary()})
    for (const CallKind *each : library->kinds)
      if (std::strcmp(each->name, kind) == 0)
        return each;
  return nullptr;
}

std::unique_ptr<LibraryCall> LibraryCall::create(const CallLibrary &library, const char *kind,
                                                 const void *description, int threads,
                                                 bool executable) {
  const CallKind *known = library.find(kind);
  return known ? known->create(description, threads, executable) : nullptr;
}

} // namespace mtc::runtime

using namespace mtc::runtime;

static const CallLibrary &find(MtcCallLibrary library) {
  return library == MTC_BUILT_IN ? builtInLibrary() : linkedLibrary();
}

/// Calls `ask` for the thread counts up to `threads`: each small count, but only powers of two of
/// large ones.
template <typename Ask> static void forThreadCounts(int threads, const Ask &ask) {
  for (int t = 1; t < threads; t = t < 16 ? t + 1 : t * 2)
    ask(t);
  ask(std::max(threads, 1));
}

extern "C" int64_t mtc_call_scratch_bytes(MtcCallLibrary library, const char *kind,
                                          const void *description, int threads) {
  int64_t result = 0;
  forThreadCounts(threads, [&](int t) {
    auto plan = LibraryCall::create(find(library), kind, description, t, false);
    result = plan && result >= 0 ? std::max(result, plan->scratchBytes()) : -1;
  });
  return result;
}

extern "C" MtcSupportLevel mtc_call_support_level(MtcCallLibrary library, const char *kind,
                                                  const void *description, int threads) {
  auto plan = LibraryCall::create(find(library), kind, description, threads, false);
  return plan ? plan->supportLevel() : MTC_CALL_UNSUPPORTED;
}

extern "C" int mtc_call_is_faster_as_kernel(MtcCallLibrary library, const char *kind,
                                            const void *description) {
  const CallKind *known = find(library).find(kind);
  return known && known->isFasterAsKernel(description);
}

extern "C" int mtc_multiplies(MtcCallLibrary library, uint32_t type) {
  return find(library).multiplies(type) ? 1 : 0;
}

extern "C" const char *mtc_library_version(MtcCallLibrary library) {
  return find(library).version();
}

extern "C" int mtc_call_run(const MtcCall *call, char *const *buffers) {
  auto prepared = LibraryCall::create(linkedLibrary(), call->kind, call->description, 1);
  if (!prepared)
    return 0;
  auto bytes = static_cast<size_t>(prepared->scratchBytes() + MTC_ALIGNMENT);
  std::unique_ptr<char, decltype(&std::free)> scratch(
      static_cast<char *>(std::aligned_alloc(MTC_ALIGNMENT, bytes / MTC_ALIGNMENT * MTC_ALIGNMENT)),
      std::free);
  prepared->run(buffers, scratch.get());
  return 1;
}
