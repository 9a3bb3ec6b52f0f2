// Parallel regions of programs without oneDNN.
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/threads/thread_pool.h"

namespace mtc::runtime {

void runParts(int parts, void (*body)(void *context, int part), void *context) {
  struct Region {
    int parts;
    void (*body)(void *, int);
    void *context;
    void run(int number, int calls) const {
      for (int part = number; part < parts; part += calls)
        body(context, part);
    }
  } region{parts, body, context};
  const bool isDone = parts > 1 && ThreadPool::get().run(
                                       parts, /*isExact=*/false,
                                       [](void *opaque, int number, int calls) {
                                         static_cast<Region *>(opaque)->run(number, calls);
                                       },
                                       &region);
  if (!isDone)
    region.run(0, 1);
}

int libraryThreads() { return 1; }

void setLibraryThreads(int) {}

} // namespace mtc::runtime
