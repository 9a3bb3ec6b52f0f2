// How long idle threads of libgomp occupy their cores.
#ifndef MTC_RUNTIME_SUPPORT_OPENMP_WAITING_H
#define MTC_RUNTIME_SUPPORT_OPENMP_WAITING_H

namespace mtc::runtime {

/// Restarts a program that uses libgomp, with GOMP_SPINCOUNT in its environment, so that idle
/// threads sleep after some ten microseconds. libgomp reads the environment before `main`; without
/// the variable its threads spin for milliseconds, which delays every step by a multiple if other
/// processes use the cores. Returns, without effect, if the program does not use libgomp, if the
/// environment has GOMP_SPINCOUNT or OMP_WAIT_POLICY already, and if the restart fails.
void limitWaiting(const char *executable, char *const *arguments);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_OPENMP_WAITING_H
