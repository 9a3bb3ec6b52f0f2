// The thread pool of programs with oneDNN, through the ABI of libgomp.
//
// The OpenMP pragmas of clang call another library (libomp), so the entry points of libgomp, which
// are part of its stable ABI, are called directly.
#include "runtime/devices/cpu/parallel.h"

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace mtc::runtime {

void runParts(int parts, void (*body)(void *context, int part), void *context) {
  if (parts <= 1) {
    if (parts == 1)
      body(context, 0);
    return;
  }
  struct Region {
    int parts;
    void (*body)(void *, int);
    void *context;
  } region{parts, body, context};
  GOMP_parallel(
      [](void *opaque) {
        auto &r = *static_cast<Region *>(opaque);
        // The environment may limit the threads to fewer than the parts.
        for (int part = omp_get_thread_num(); part < r.parts; part += omp_get_num_threads())
          r.body(r.context, part);
      },
      &region, static_cast<unsigned>(parts), 0);
}

int libraryThreads() { return omp_get_max_threads(); }

void setLibraryThreads(int threads) { omp_set_num_threads(threads); }

} // namespace mtc::runtime
