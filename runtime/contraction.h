// One contraction, prepared once and run in every step.
//
// oneDNN's matmul runs it. Measured with 2.6.3 on AVX-512: dense operands, transposed or with
// permuted batch dimensions, take its fast path (`brg`); operands with gaps between rows take
// `gemm:jit`, as fast but with buffers of its own; a result that is not row-major, a broadcast
// batch or a matrix without a unit stride would take `ref`, 700 times slower. The last group never
// reaches the library: the problem is simplified, cut into entries of the batch, or packed first.
#ifndef MTC_RUNTIME_CONTRACTION_H
#define MTC_RUNTIME_CONTRACTION_H

#include "runtime/abi/contraction.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

class Contraction {
public:
  /// Plans for exactly `threads` threads; null if the element type is not supported on this
  /// machine. Generates code only when `executable`; otherwise the object only answers questions.
  static std::unique_ptr<Contraction> create(const MtcContraction &contraction, int threads,
                                             bool executable = true);
  virtual ~Contraction() = default;

  /// Bytes that `run` needs at `scratch`, which is aligned to MTC_ALIGNMENT.
  virtual int64_t scratchBytes() const = 0;
  virtual MtcContractionRate rate() const = 0;
  /// For the profile and for tests.
  virtual std::string implementation() const = 0;
  /// Computes `out`. Operands are addresses of element 0. Not to be called by two threads at once.
  virtual void run(const char *lhs, const char *rhs, char *out, char *scratch) = 0;
};

/// Multiplications and additions of a run.
int64_t contractionFlops(const MtcContraction &contraction);

/// How many of `threads` threads are worth waking: a contraction of microseconds is done before
/// they come.
int usefulThreads(const MtcContraction &contraction, int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CONTRACTION_H
