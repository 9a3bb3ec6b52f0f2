// Contractions in plain loops over arbitrary strides.
#include "runtime/calls/contraction/cpu/loops.h"

#include "runtime/devices/cpu/threads/parallel.h"

#include <array>
#include <utility>

namespace mtc::runtime {
namespace {

template <typename Element> class LoopContraction final : public LibraryCall {
public:
  LoopContraction(ContractionProblem problem, bool accumulate, int threads)
      : problem(std::move(problem)), accumulate(accumulate), threads(threads) {}

  int64_t scratchBytes() const override { return 0; }
  MtcSupportLevel supportLevel() const override { return MTC_CALL_LOOPS; }
  std::string implementation() const override { return "loops"; }

  void run(char *const *buffers, char *) override {
    const char *lhs = buffers[0], *rhs = buffers[1];
    char *out = buffers[2 + problem.addends.size()];
    if (problem.swapped)
      std::swap(lhs, rhs);
    const int64_t rows = problem.m(), columns = problem.n(), depth = problem.k();
    parallelFor(threads, problem.entries() * rows, 1 + 16384 / (1 + columns * (depth + 1)),
                [&](int, int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    row(i / rows, i % rows, reinterpret_cast<const Element *>(lhs),
                        reinterpret_cast<const Element *>(rhs), buffers + 2,
                        reinterpret_cast<Element *>(out));
                });
  }

private:
  void row(int64_t entry, int64_t m, const Element *lhs, const Element *rhs, char *const *addends,
           Element *out) const {
    std::array<const Element *, MTC_MAX_ADDENDS> added{};
    for (size_t a = 0; a < problem.addends.size(); ++a)
      added[a] = reinterpret_cast<const Element *>(addends[a]) + m * problem.addends[a].rowStride;
    for (size_t i = problem.batch.size(); i-- > 0;) {
      const BatchAxis &axis = problem.batch[i];
      int64_t index = entry % axis.extent;
      entry /= axis.extent;
      lhs += index * axis.lhs;
      rhs += index * axis.rhs;
      out += index * axis.out;
      for (size_t a = 0; a < problem.addends.size(); ++a)
        added[a] += index * axis.addends[a];
    }
    lhs += m * problem.lhs.rowStride;
    out += m * problem.out.rowStride;
    for (int64_t n = 0; n < problem.n(); ++n) {
      Element sum = 0;
      for (int64_t k = 0; k < problem.k(); ++k)
        sum += lhs[k * problem.lhs.columnStride] *
               rhs[k * problem.rhs.rowStride + n * problem.rhs.columnStride];
      for (size_t a = 0; a < problem.addends.size(); ++a)
        sum += added[a][n * problem.addends[a].columnStride];
      Element &result = out[n * problem.out.columnStride];
      result = accumulate ? result + sum : sum;
    }
  }

  ContractionProblem problem;
  bool accumulate;
  int threads;
};

} // namespace

std::unique_ptr<LibraryCall> createLoopContraction(const MtcContraction &contraction,
                                                   const ContractionProblem &problem, int threads) {
  bool accumulate = contraction.accumulate != 0;
  if (contraction.lhs_type == MTC_F32)
    return std::make_unique<LoopContraction<float>>(problem, accumulate, threads);
  if (contraction.lhs_type == MTC_F64)
    return std::make_unique<LoopContraction<double>>(problem, accumulate, threads);
  return nullptr;
}

} // namespace mtc::runtime
