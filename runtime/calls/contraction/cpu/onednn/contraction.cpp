// Contractions by oneDNN's matmul: packing, splitting of the batch, and distribution over threads.
#include "runtime/calls/contraction/cpu/onednn/contraction.h"

#include "runtime/calls/contraction/cpu/contraction.h"
#include "runtime/calls/contraction/cpu/loops.h"
#include "runtime/calls/contraction/cpu/onednn/library_matmul.h"
#include "runtime/calls/contraction/cpu/panels.h"
#include "runtime/calls/contraction/cpu/strided_copy.h"
#include "runtime/calls/contraction/plain.h"
#include "runtime/calls/contraction/problem.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

/// An operand or result that is copied through a dense buffer in the scratch.
struct Packing {
  StridedTensor original, dense;
  int64_t offset = 0;
};

class LibraryContraction final : public LibraryCall {
public:
  /// Returns false if the library only has its reference implementation, or if its threads may
  /// wait for each other.
  bool plan(const MtcContraction &contraction, const ContractionProblem &simplified,
            int maximalThreads) {
    types = {.operands = *libraryType(contraction.lhs_type),
             .result = *libraryType(contraction.out_type),
             .addends = {}};
    for (uint32_t i = 0; i < contraction.addend_count; ++i)
      types.addends[i] = *libraryType(contraction.addend_types[i]);
    problem = simplified;
    threads = maximalThreads;
    packOperand(problem.lhs, &BatchAxis::lhs, packedLhs, types.operands);
    packOperand(problem.rhs, &BatchAxis::rhs, packedRhs, types.operands);
    accumulate = contraction.accumulate != 0;
    chosen.lhs = contraction.algorithm == MTC_PACKED_OPERANDS;
    chosen.rhs = chosen.lhs || contraction.algorithm == MTC_PACKED_RHS;
    if (problem.out.isRowMajor() && (chooseCopiedAddend(contraction) || chooseMatmul()))
      return true;
    // Write the sums to the scratch first; accumulation and addends are applied in the copy to the
    // result.
    addends.swap(problem.addends);
    accumulateAfterwards = std::exchange(accumulate, false);
    if ((accumulateAfterwards || !addends.empty()) && types.operands != dnnl_f32)
      return false;
    packOperand(problem.out, &BatchAxis::out, packedOut, types.result, true);
    return chooseMatmul();
  }

  /// Generates the code and the objects that `run` uses.
  bool build() {
    auto isBuilt = [](const auto &copy) { return !copy || copy->build(1); };
    return matmul.primitive->build(workers) && isBuilt(matmul.lhsCopy) && isBuilt(matmul.rhsCopy);
  }

  int64_t scratchBytes() const override { return scratch; }

  MtcSupportLevel supportLevel() const override {
    if (packedLhs || packedRhs || packedOut)
      return MTC_CALL_PACKED;
    return matmul.primitive->allocates() ? MTC_CALL_ALLOCATES : MTC_CALL_FAST;
  }

  std::string implementation() const override {
    std::string text = matmul.primitive->name();
    if (matmul.lhsCopy || matmul.rhsCopy)
      text += matmul.lhsCopy ? " blocked operands" : " blocked rhs";
    if (packedLhs || packedRhs || packedOut)
      text += " packed";
    if (entries > 1)
      text +=
          " of " + std::to_string(entries) + (workers > 1 ? " entries in parallel" : " entries");
    return text;
  }

  void run(char *const *buffers, char *scratchStart) override {
    const char *lhs = buffers[0], *rhs = buffers[1];
    const char *const *added = buffers + 2;
    const size_t last = 2 + addends.size() + problem.addends.size();
    char *out = buffers[isAddendCopied ? last + 1 : last];
    if (isAddendCopied)
      std::memcpy(out, buffers[last], static_cast<size_t>(resultBytes));
    if (problem.swapped)
      std::swap(lhs, rhs);
    lhs = pack(packedLhs, lhs, scratchStart);
    rhs = pack(packedRhs, rhs, scratchStart);
    char *result = packedOut ? scratchStart + packedOut->offset : out;
    char *library = scratchStart + libraryOffset;
    lhs = copy(matmul.lhsCopy, lhs, scratchStart + lhsCopyOffset, library);
    rhs = copy(matmul.rhsCopy, rhs, scratchStart + rhsCopyOffset, library);
    if (workers == 1) {
      for (int64_t entry = 0; entry < entries; ++entry)
        runEntry(0, entry, lhs, rhs, added, result, library);
    } else {
      parallelFor(workers, entries, 1, [&](int part, int64_t begin, int64_t end) {
        LibraryThreads scope(1);
        for (int64_t entry = begin; entry < end; ++entry)
          runEntry(part, entry, lhs, rhs, added, result, library + librarySlice * part);
      });
    }
    if (accumulateAfterwards || !addends.empty())
      addAfterwards(reinterpret_cast<const float *>(result), added, reinterpret_cast<float *>(out));
    else if (packedOut)
      copyStrided(packedOut->dense, result, packedOut->original, out, bytesOf(types.result),
                  threads);
  }

private:
  static int bytesOf(dnnl_data_type_t type) { return static_cast<int>(dnnl_data_type_size(type)); }

  /// The library's `gemm` starts long sums from the previous contents of the result. Whether the
  /// last addend is accumulated into in place depends on the plan of the memory. If it is not, it
  /// is copied to the result first, so that the sums have the same bits. Returns false, and plans
  /// nothing, if there is no such addend or the library does not use `gemm`.
  bool chooseCopiedAddend(const MtcContraction &contraction) {
    if (accumulate || types.result != dnnl_f32 || !isLastAddendLikeResult(contraction))
      return false;
    const MatrixLayout last = problem.addends.back();
    const int64_t scratchBefore = scratch;
    problem.addends.pop_back();
    accumulate = true;
    isAddendCopied = chooseMatmul() && matmul.primitive->allocates();
    if (isAddendCopied)
      return true;
    problem.addends.push_back(last);
    accumulate = false;
    scratch = scratchBefore;
    return false;
  }

  /// Returns whether there are addends, and the last one and the result are dense and alike.
  bool isLastAddendLikeResult(const MtcContraction &c) {
    if (c.addend_count == 0 || types.addends[c.addend_count - 1] != types.result)
      return false;
    int64_t elements = 1;
    for (uint32_t axis = c.batch_rank + 2; axis-- > 0;) {
      const int64_t extent = axis < c.batch_rank ? c.batch[axis] : axis == c.batch_rank ? c.m : c.n;
      if (extent != 1 && (c.out_strides[axis] != elements ||
                          c.addend_strides[c.addend_count - 1][axis] != elements))
        return false;
      elements *= extent;
    }
    resultBytes = elements * bytesOf(types.result);
    return true;
  }

  /// Plans one matmul over as many batch axes as the library supports.
  bool chooseMatmul() {
    for (size_t inner = std::min(problem.batch.size(), maxMatmulBatchAxes);; --inner) {
      entries = 1;
      outerAxes = problem.batch.size() - inner;
      for (size_t i = 0; i < outerAxes; ++i)
        entries *= problem.batch[i].extent;
      workers = entries >= threads ? threads : 1;
      matmul = planMatmul(problem, inner, types, accumulate, chosen, workers > 1 ? 1 : threads);
      if (matmul.primitive || inner == 0)
        break;
    }
    if (!matmul.primitive || (matmul.primitive->allocates() && workers == 1 &&
                              gemmMaySplitSums(problem.m(), problem.n(), problem.k(), threads)))
      return false;
    lhsCopyOffset = scratch;
    rhsCopyOffset = lhsCopyOffset + alignedBytes(matmul.lhsCopyBytes);
    libraryOffset = rhsCopyOffset + alignedBytes(matmul.rhsCopyBytes);
    // The copies and the multiplication run in sequence and share scratch.
    librarySlice = alignedBytes(matmul.primitive->scratchBytes());
    for (const auto &each : {std::cref(matmul.lhsCopy), std::cref(matmul.rhsCopy)})
      if (each.get())
        librarySlice = std::max(librarySlice, alignedBytes(each.get()->scratchBytes()));
    scratch = libraryOffset + librarySlice * workers;
    return true;
  }

  /// Replaces a layout that no library supports by a dense one in the scratch.
  void packOperand(MatrixLayout &matrix, int64_t BatchAxis::*stride,
                   std::optional<Packing> &packing, dnnl_data_type_t type, bool isResult = false) {
    if (!isResult && matrix.isPlain())
      return;
    packing.emplace();
    for (BatchAxis &axis : problem.batch) {
      // A broadcast axis remains broadcast: its entries are not copied.
      packing->original.extents.push_back(axis.*stride == 0 ? 1 : axis.extent);
      packing->original.strides.push_back(axis.*stride);
    }
    packing->original.extents.insert(packing->original.extents.end(),
                                     {matrix.rows, matrix.columns});
    packing->original.strides.insert(packing->original.strides.end(),
                                     {matrix.rowStride, matrix.columnStride});

    packing->dense.extents = packing->original.extents;
    packing->dense.strides.resize(packing->dense.extents.size());
    int64_t elements = 1;
    for (size_t i = packing->dense.extents.size(); i-- > 0;) {
      packing->dense.strides[i] = elements;
      elements *= packing->dense.extents[i];
    }
    matrix.rowStride = matrix.columns;
    matrix.columnStride = 1;
    for (size_t i = 0; i < problem.batch.size(); ++i)
      if (problem.batch[i].*stride != 0)
        problem.batch[i].*stride = packing->dense.strides[i];
    packing->offset = scratch;
    scratch += alignedBytes(elements * bytesOf(type));
  }

  const char *pack(const std::optional<Packing> &packing, const char *operand,
                   char *scratchStart) const {
    if (!packing)
      return operand;
    char *dense = scratchStart + packing->offset;
    copyStrided(packing->original, operand, packing->dense, dense, bytesOf(types.operands),
                threads);
    return dense;
  }

  /// Copies an operand to the layout that the library has chosen for it, if it has chosen one.
  static const char *copy(const std::unique_ptr<LibraryPrimitive> &primitive, const char *operand,
                          char *to, char *library) {
    if (!primitive)
      return operand;
    const std::array<const char *, 2> ends = {operand, to};
    primitive->run(0, ends.data(), library);
    return to;
  }

  /// Runs one entry. Entries are numbered over the outer batch axes, the last axis fastest.
  void runEntry(int worker, int64_t entry, const char *lhs, const char *rhs,
                const char *const *buffers, char *out, char *library) {
    int64_t lhsOffset = 0, rhsOffset = 0, outOffset = 0;
    constexpr size_t firstAddend = 3;
    std::array<const char *, firstAddend + MTC_MAX_ADDENDS> operands{};
    std::copy_n(buffers, problem.addends.size(), operands.begin() + firstAddend);
    for (size_t i = outerAxes; i-- > 0;) {
      const BatchAxis &axis = problem.batch[i];
      int64_t index = entry % axis.extent;
      entry /= axis.extent;
      lhsOffset += index * axis.lhs;
      rhsOffset += index * axis.rhs;
      outOffset += index * axis.out;
      for (size_t a = 0; a < problem.addends.size(); ++a)
        operands[firstAddend + a] += index * axis.addends[a] * bytesOf(types.addends[a]);
    }
    operands[0] = lhs + lhsOffset * bytesOf(types.operands);
    operands[1] = rhs + rhsOffset * bytesOf(types.operands);
    operands[2] = out + outOffset * bytesOf(types.result);
    matmul.primitive->run(worker, operands.data(), library);
  }

  /// Computes out (+)= sums + addends, where the sums are dense in the scratch.
  void addAfterwards(const float *sums, const char *const *added, float *out) const {
    const int64_t columns = problem.n(), rows = problem.m();
    const StridedTensor &to = packedOut->original;
    const size_t matrix = problem.batch.size();
    parallelFor(threads, problem.entries() * rows, 1 + 16384 / (columns + 1),
                [&](int, int64_t begin, int64_t end) {
                  for (int64_t line = begin; line < end; ++line) {
                    const float *s = sums + line * columns;
                    int64_t rest = line / rows, row = line % rows;
                    float *o = out + row * to.strides[matrix];
                    std::array<const float *, MTC_MAX_ADDENDS> a{};
                    for (size_t i = 0; i < addends.size(); ++i)
                      a[i] = reinterpret_cast<const float *>(added[i]) + row * addends[i].rowStride;
                    for (size_t b = matrix; b-- > 0;) {
                      int64_t index = rest % to.extents[b];
                      rest /= to.extents[b];
                      o += index * to.strides[b];
                      for (size_t i = 0; i < addends.size(); ++i)
                        a[i] += index * problem.batch[b].addends[i];
                    }
                    for (int64_t n = 0; n < columns; ++n) {
                      float &result = o[n * to.strides[matrix + 1]];
                      float sum = s[n];
                      for (size_t i = 0; i < addends.size(); ++i)
                        sum += a[i][n * addends[i].columnStride];
                      result = accumulateAfterwards ? result + sum : sum;
                    }
                  }
                });
  }

  ContractionProblem problem;
  MatmulTypes types = {};
  int threads = 1, workers = 1;
  int64_t entries = 1, scratch = 0, librarySlice = 0, libraryOffset = 0, lhsCopyOffset = 0,
          rhsCopyOffset = 0;
  ChosenLayouts chosen;
  std::optional<Packing> packedLhs, packedRhs, packedOut;
  bool accumulate = false;
  bool isAddendCopied = false; ///< the last addend, to the result, before the matmul accumulates
  int64_t resultBytes = 0;
  /// Accumulation and addends that the library does not support, which are applied after the
  /// matmul.
  bool accumulateAfterwards = false;
  std::vector<MatrixLayout> addends;
  size_t outerAxes = 0; ///< number of batch axes over which separate matmuls run
  LibraryMatmul matmul;
};

} // namespace

std::unique_ptr<LibraryCall> createContraction(const MtcContraction &contraction, int threads,
                                               bool executable) {
  ContractionProblem problem = simplifyContraction(contraction);
  const bool isStored = contraction.lhs_storage || contraction.rhs_storage;
  if (!isUniform(contraction))
    return nullptr;
  const uint32_t type = contraction.lhs_type;
  const bool isLibrarys =
      !isStored && contraction.algorithm != MTC_OWN_PANELS &&
      (type == MTC_F32 || (libraryMultiplies(type) && contraction.product_type == type));
  if (isLibrarys && !problem.isEmpty() && problem.k() > 0) {
    auto result = std::make_unique<LibraryContraction>();
    if (result->plan(contraction, problem, threads) && (!executable || result->build()))
      return result;
  }
  // Loops compute plain matrices of more elements than the library accepts in an axis: panels would
  // have as many tasks.
  const bool isPlain = !isStored && type == MTC_F32 && contraction.algorithm != MTC_OWN_PANELS;
  if (!isPlain || std::max({problem.m(), problem.n(), problem.k()}) <= INT32_MAX)
    if (auto result = createPanelContraction(contraction, problem, threads, machineVectors()))
      return result;
  return createLoopContraction(contraction, problem, threads);
}

static const MtcContraction &recordOf(const void *record) {
  return *static_cast<const MtcContraction *>(record);
}

const CallKind onednnContractionCalls = {
    MTC_CONTRACTION,
    [](const void *record, int threads, bool executable) -> std::unique_ptr<LibraryCall> {
      const MtcContraction &contraction = recordOf(record);
      // ReLU of oneDNN turns NaN into 0, and its sums over an operand are separate passes.
      if (contraction.activation != MTC_NO_ACTIVATION || contraction.summed != MTC_NOTHING_SUMMED)
        return nullptr;
      return createContraction(contraction, usefulThreads(contractionFlops(contraction), threads),
                               executable);
    },
    [](const void *record) { return isFasterAsKernel(recordOf(record)); }};

} // namespace mtc::runtime
