// Parallel regions of programs with oneDNN.
//
// Debian's oneDNN runs its regions by libgomp, whose idle threads spin for milliseconds, which
// delays every step by a multiple if other processes use the cores. Only environment variables that
// are set before libgomp is loaded change that. A library cannot set them in time, since its
// process may already have loaded libgomp. oneDNN therefore calls five functions of this file
// instead of libgomp's. They run its regions on the threads of the process's pool, and other users
// of libgomp are not affected.
//
// All models in a process share the pool of the one that was loaded first. A region that cannot
// have the pool, since a thread of another model has it, runs by libgomp.
#include "runtime/devices/cpu/threads/library_slots.h"
#include "runtime/devices/cpu/threads/parallel.h"
#include "runtime/devices/cpu/threads/thread_pool.h"
#include "runtime/devices/cpu/threads/wait_word.h"

#include <atomic>
#include <dlfcn.h>

// libgomp's functions, which are part of its stable ABI. The OpenMP pragmas of clang call another
// library (libomp).
extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_in_parallel(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
}

namespace mtc::runtime {
namespace {

/// A region of the pool.
struct Team {
  Team(void (*function)(void *), void *data) : function(function), data(data) {}

  void (*function)(void *);
  void *data;
  std::atomic<int> arrived = 0; ///< threads at the next barrier
  WaitWord barriers;            ///< barriers passed
};

/// The calling thread's place in the team that it is part of.
struct Member {
  Team *team = nullptr;
  int number = 0, threads = 1;
};
thread_local Member member;

void runRegion(void *opaque, int thread, int threads) {
  auto &team = *static_cast<Team *>(opaque);
  member = {&team, thread, threads};
  team.function(team.data);
  member = {};
}

void runTeam(void (*function)(void *), void *data, unsigned threads, unsigned flags) {
  const int wanted = threads ? static_cast<int>(threads) : omp_get_max_threads();
  Team team(function, data);
  if (member.team) { // Regions within regions have one thread.
    const Member outer = member;
    runRegion(&team, 0, 1);
    member = outer;
  } else if (wanted <= 1 || !ThreadPool::get().run(wanted, /*isExact=*/true, runRegion, &team)) {
    GOMP_parallel(function, data, threads, flags);
  }
}

void passBarrier() {
  if (!member.team)
    return GOMP_barrier();
  Team &team = *member.team;
  const uint32_t passed = team.barriers.load();
  if (team.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < member.threads) {
    team.barriers.waitForChange(passed);
    return;
  }
  team.arrived.store(0, std::memory_order_relaxed);
  team.barriers.add(1);
}

int threadNumber() { return member.team ? member.number : omp_get_thread_num(); }
int teamSize() { return member.team ? member.threads : omp_get_num_threads(); }
int isInTeam() { return member.team ? member.threads > 1 : omp_in_parallel(); }

/// The functions of the regions of this runtime: those that oneDNN calls.
struct RegionFunctions {
  decltype(&GOMP_parallel) run = GOMP_parallel;
  decltype(&omp_get_thread_num) threadNumber = omp_get_thread_num;
  decltype(&omp_get_num_threads) teamSize = omp_get_num_threads;

  static const RegionFunctions &get() {
    static const RegionFunctions functions;
    return functions;
  }

private:
  RegionFunctions();
};

/// Returns whether a function belongs to libgomp or to oneDNN. Slots contain functions of oneDNN
/// before the first call through them.
bool isOriginal(void *function) {
  Dl_info info, onednn, gomp;
  return dladdr(function, &info) && dladdr(dlsym(RTLD_DEFAULT, "dnnl_version"), &onednn) &&
         dladdr(dlsym(RTLD_DEFAULT, "GOMP_parallel"), &gomp) &&
         (info.dli_fbase == onednn.dli_fbase || info.dli_fbase == gomp.dli_fbase);
}

/// Keeps the library that contains this code loaded.
void stayLoaded() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(stayLoaded), &info))
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

RegionFunctions::RegionFunctions() {
  const struct {
    const char *name;
    void *function;
  } own[] = {{"GOMP_parallel", reinterpret_cast<void *>(runTeam)},
             {"GOMP_barrier", reinterpret_cast<void *>(passBarrier)},
             {"omp_get_thread_num", reinterpret_cast<void *>(mtc::runtime::threadNumber)},
             {"omp_get_num_threads", reinterpret_cast<void *>(mtc::runtime::teamSize)},
             {"omp_in_parallel", reinterpret_cast<void *>(isInTeam)}};
  constexpr size_t count = std::size(own);
  void **slots[count];
  for (size_t i = 0; i < count; ++i) {
    slots[i] = findSlot("dnnl_version", own[i].name);
    if (!slots[i])
      return; // An oneDNN of another kind: libgomp runs all regions.
  }
  if (isOriginal(*slots[0])) {
    stayLoaded();
    // A region has the functions of one library, so its start is written last.
    for (size_t i = count; i-- > 0;)
      if (!writeSlot(slots[i], own[i].function))
        return;
  }
  run = reinterpret_cast<decltype(run)>(*slots[0]);
  threadNumber = reinterpret_cast<decltype(threadNumber)>(*slots[2]);
  teamSize = reinterpret_cast<decltype(teamSize)>(*slots[3]);
}

} // namespace

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
    const RegionFunctions &functions;
  } region{parts, body, context, RegionFunctions::get()};
  region.functions.run(
      [](void *opaque) {
        auto &r = *static_cast<Region *>(opaque);
        // The environment may limit the threads to fewer than the parts.
        for (int part = r.functions.threadNumber(); part < r.parts; part += r.functions.teamSize())
          r.body(r.context, part);
      },
      &region, static_cast<unsigned>(parts), 0);
}

int libraryThreads() { return omp_get_max_threads(); }

void setLibraryThreads(int threads) {
  RegionFunctions::get();
  omp_set_num_threads(threads);
}

} // namespace mtc::runtime
