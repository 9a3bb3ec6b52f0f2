// Contractions by oneDNN's matmul, through its C interface: execution takes arrays prepared
// beforehand.
#include "runtime/contraction.h"

#include "runtime/contraction_loops.h"
#include "runtime/contraction_problem.h"
#include "runtime/parallel.h"
#include "runtime/strided_copy.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

template <typename T, dnnl_status_t (*Destroy)(T *)> struct Destroyer {
  void operator()(T *object) const { Destroy(object); }
};
using Engine = std::unique_ptr<dnnl_engine, Destroyer<dnnl_engine, dnnl_engine_destroy>>;
using Stream = std::unique_ptr<dnnl_stream, Destroyer<dnnl_stream, dnnl_stream_destroy>>;
using Attributes = std::unique_ptr<dnnl_primitive_attr,
                                   Destroyer<dnnl_primitive_attr, dnnl_primitive_attr_destroy>>;
using PostOps = std::unique_ptr<dnnl_post_ops, Destroyer<dnnl_post_ops, dnnl_post_ops_destroy>>;
using Descriptor = std::unique_ptr<dnnl_primitive_desc,
                                   Destroyer<dnnl_primitive_desc, dnnl_primitive_desc_destroy>>;
using Primitive =
    std::unique_ptr<dnnl_primitive, Destroyer<dnnl_primitive, dnnl_primitive_destroy>>;
using Memory = std::unique_ptr<dnnl_memory, Destroyer<dnnl_memory, dnnl_memory_destroy>>;

/// The processor, as the library sees it.
struct Device {
  Engine engine;
  Stream stream;

  Device() {
    dnnl_engine_t e = nullptr;
    dnnl_stream_t s = nullptr;
    if (dnnl_engine_create(&e, dnnl_cpu, 0) == dnnl_success)
      engine.reset(e);
    if (engine && dnnl_stream_create(&s, e, dnnl_stream_default_flags) == dnnl_success)
      stream.reset(s);
  }
  static Device &get() {
    static Device device;
    return device;
  }
};

/// Plans with the threads that the primitive will be run by.
class WithLibraryThreads {
public:
  explicit WithLibraryThreads(int threads) : before(libraryThreads()) {
    setLibraryThreads(threads);
  }
  ~WithLibraryThreads() { setLibraryThreads(before); }

private:
  int before;
};

int64_t aligned(int64_t bytes) {
  return (bytes + MTC_ALIGNMENT - 1) / MTC_ALIGNMENT * MTC_ALIGNMENT;
}

std::optional<dnnl_data_type_t> libraryType(uint32_t type) {
  if (type == MTC_F32)
    return dnnl_f32;
  if (type == MTC_BF16)
    return dnnl_bf16;
  return std::nullopt;
}

/// The last `inner` batch axes and the matrix, as the library's tensor. A broadcast axis has extent
/// 1 there.
dnnl_memory_desc_t describe(const ContractionProblem &p, size_t inner, const MatrixLayout &matrix,
                            int64_t BatchAxis::*stride, dnnl_data_type_t type) {
  dnnl_dims_t extents, strides;
  int rank = 0;
  for (size_t i = p.batch.size() - inner; i < p.batch.size(); ++i) {
    bool broadcast = p.batch[i].*stride == 0;
    extents[rank] = broadcast ? 1 : p.batch[i].extent;
    strides[rank++] = broadcast ? matrix.rows * matrix.columns : p.batch[i].*stride;
  }
  extents[rank] = matrix.rows;
  strides[rank++] = matrix.rowStride;
  extents[rank] = matrix.columns;
  strides[rank++] = matrix.columnStride;
  dnnl_memory_desc_t description;
  dnnl_memory_desc_init_by_strides(&description, rank, extents, type, strides);
  return description;
}

/// A matmul over the last `inner` batch axes; null if the library has none, or only its reference.
Descriptor describeMatmul(const ContractionProblem &p, size_t inner, dnnl_data_type_t type,
                          bool accumulate) {
  dnnl_memory_desc_t lhs = describe(p, inner, p.lhs, &BatchAxis::lhs, type);
  dnnl_memory_desc_t rhs = describe(p, inner, p.rhs, &BatchAxis::rhs, type);
  dnnl_memory_desc_t out = describe(p, inner, p.out, &BatchAxis::out, type);
  dnnl_matmul_desc_t operation;
  if (dnnl_matmul_desc_init(&operation, &lhs, &rhs, nullptr, &out) != dnnl_success)
    return nullptr;
  dnnl_primitive_attr_t rawAttributes = nullptr;
  if (dnnl_primitive_attr_create(&rawAttributes) != dnnl_success)
    return nullptr;
  Attributes attributes(rawAttributes);
  dnnl_primitive_attr_set_scratchpad_mode(rawAttributes, dnnl_scratchpad_mode_user);
  if (accumulate) {
    dnnl_post_ops_t rawPostOps = nullptr;
    if (dnnl_post_ops_create(&rawPostOps) != dnnl_success)
      return nullptr;
    PostOps postOps(rawPostOps);
    dnnl_post_ops_append_sum(rawPostOps, 1.0f);
    dnnl_primitive_attr_set_post_ops(rawAttributes, rawPostOps);
  }
  dnnl_primitive_desc_t raw = nullptr;
  if (dnnl_primitive_desc_create(&raw, &operation, attributes.get(), Device::get().engine.get(),
                                 nullptr) != dnnl_success)
    return nullptr;
  Descriptor descriptor(raw);
  const char *name = "";
  dnnl_primitive_desc_query(raw, dnnl_query_impl_info_str, 0, &name);
  return std::strncmp(name, "ref", 3) == 0 ? nullptr : std::move(descriptor);
}

/// An operand or result that passes through a dense copy in the scratch.
struct Packing {
  StridedTensor original, dense;
  int64_t offset = 0;
};

class LibraryContraction final : public Contraction {
public:
  /// False if the library has no implementation but its reference.
  bool plan(const MtcContraction &contraction, const ContractionProblem &simplified,
            int maximalThreads) {
    type = *libraryType(contraction.type);
    elementBytes = static_cast<int>(dnnl_data_type_size(type));
    problem = simplified;
    threads = maximalThreads;
    packOperand(problem.lhs, &BatchAxis::lhs, packedLhs);
    packOperand(problem.rhs, &BatchAxis::rhs, packedRhs);
    if (!problem.out.isRowMajor()) {
      packOperand(problem.out, &BatchAxis::out, packedOut, true);
      addAfterwards = contraction.accumulate != 0;
    }
    if (addAfterwards && elementBytes == 2)
      return false;

    bool accumulate = contraction.accumulate && !addAfterwards;
    for (size_t inner = std::min<size_t>(problem.batch.size(), DNNL_MAX_NDIMS - 2);; --inner) {
      int64_t outer = 1;
      for (size_t i = 0; i + inner < problem.batch.size(); ++i)
        outer *= problem.batch[i].extent;
      entries = outer;
      workers = outer >= threads ? threads : 1;
      WithLibraryThreads scope(workers > 1 ? 1 : threads);
      descriptor = describeMatmul(problem, inner, type, accumulate);
      if (descriptor || inner == 0)
        break;
    }
    if (!descriptor)
      return false;
    librarySlice = aligned(static_cast<int64_t>(dnnl_memory_desc_get_size(scratchDescription())));
    libraryOffset = scratch;
    scratch += librarySlice * workers;
    return true;
  }

  /// Generates the code and the objects that `run` uses.
  bool build() {
    WithLibraryThreads scope(workers > 1 ? 1 : threads);
    dnnl_primitive_t raw = nullptr;
    if (dnnl_primitive_create(&raw, descriptor.get()) != dnnl_success)
      return false;
    primitive.reset(raw);
    arguments.resize(static_cast<size_t>(workers));
    for (Arguments &a : arguments) {
      const std::array<dnnl_query_t, 4> queries = {dnnl_query_src_md, dnnl_query_weights_md,
                                                   dnnl_query_dst_md, dnnl_query_scratchpad_md};
      const std::array<int, 4> names = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST,
                                        DNNL_ARG_SCRATCHPAD};
      for (size_t i = 0; i < 4; ++i) {
        dnnl_memory_t memory = nullptr;
        if (dnnl_memory_create(&memory,
                               dnnl_primitive_desc_query_md(descriptor.get(), queries[i], 0),
                               Device::get().engine.get(), DNNL_MEMORY_NONE) != dnnl_success)
          return false;
        a.owned[i].reset(memory);
        a.list[i] = {names[i], memory};
      }
    }
    return true;
  }

  int64_t scratchBytes() const override { return scratch; }

  MtcContractionRate rate() const override {
    if (packedLhs || packedRhs || packedOut)
      return MTC_CONTRACTION_PACKED;
    return implementationName().rfind("gemm", 0) == 0 ? MTC_CONTRACTION_ALLOCATES
                                                      : MTC_CONTRACTION_FAST;
  }

  std::string implementation() const override {
    std::string text = implementationName();
    if (packedLhs || packedRhs || packedOut)
      text += " packed";
    if (entries > 1)
      text +=
          " of " + std::to_string(entries) + (workers > 1 ? " entries in parallel" : " entries");
    return text;
  }

  void run(const char *lhs, const char *rhs, char *out, char *scratchStart) override {
    if (problem.swapped)
      std::swap(lhs, rhs);
    lhs = pack(packedLhs, lhs, scratchStart);
    rhs = pack(packedRhs, rhs, scratchStart);
    char *result = packedOut ? scratchStart + packedOut->offset : out;
    char *library = scratchStart + libraryOffset;
    if (workers == 1) {
      for (int64_t entry = 0; entry < entries; ++entry)
        runEntry(arguments[0], entry, lhs, rhs, result, library);
    } else {
      parallelFor(workers, entries, 1, [&](int part, int64_t begin, int64_t end) {
        WithLibraryThreads scope(1);
        for (int64_t entry = begin; entry < end; ++entry)
          runEntry(arguments[static_cast<size_t>(part)], entry, lhs, rhs, result,
                   library + librarySlice * part);
      });
    }
    if (packedOut)
      copyStrided(packedOut->dense, result, packedOut->original, out, elementBytes, addAfterwards,
                  threads);
  }

private:
  struct Arguments {
    std::array<Memory, 4> owned; ///< lhs, rhs, out, scratch
    std::array<dnnl_exec_arg_t, 4> list;
  };

  const dnnl_memory_desc_t *scratchDescription() const {
    return dnnl_primitive_desc_query_md(descriptor.get(), dnnl_query_scratchpad_md, 0);
  }

  std::string implementationName() const {
    const char *name = "";
    dnnl_primitive_desc_query(descriptor.get(), dnnl_query_impl_info_str, 0, &name);
    return name;
  }

  /// Replaces a layout that no library takes by a dense one in the scratch.
  void packOperand(MatrixLayout &matrix, int64_t BatchAxis::*stride,
                   std::optional<Packing> &packing, bool isResult = false) {
    if (!isResult && matrix.isPlain())
      return;
    packing.emplace();
    for (BatchAxis &axis : problem.batch) {
      // A broadcast axis stays one: its entries are not copied.
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
    scratch += aligned(elements * elementBytes);
  }

  const char *pack(const std::optional<Packing> &packing, const char *operand,
                   char *scratchStart) const {
    if (!packing)
      return operand;
    char *dense = scratchStart + packing->offset;
    copyStrided(packing->original, operand, packing->dense, dense, elementBytes, false, threads);
    return dense;
  }

  void runEntry(Arguments &a, int64_t entry, const char *lhs, const char *rhs, char *out,
                char *library) const {
    int64_t offsets[3] = {0, 0, 0};
    int64_t rest = entry, remaining = entries;
    // Entries count over the outer batch axes, the last of them fastest.
    size_t outer = 0;
    for (int64_t product = 1; product < remaining; ++outer)
      product *= problem.batch[outer].extent;
    for (size_t i = outer; i-- > 0;) {
      const BatchAxis &axis = problem.batch[i];
      int64_t index = rest % axis.extent;
      rest /= axis.extent;
      offsets[0] += index * axis.lhs;
      offsets[1] += index * axis.rhs;
      offsets[2] += index * axis.out;
    }
    dnnl_memory_set_data_handle(a.list[0].memory,
                                const_cast<char *>(lhs) + offsets[0] * elementBytes);
    dnnl_memory_set_data_handle(a.list[1].memory,
                                const_cast<char *>(rhs) + offsets[1] * elementBytes);
    dnnl_memory_set_data_handle(a.list[2].memory, out + offsets[2] * elementBytes);
    dnnl_memory_set_data_handle(a.list[3].memory, library);
    dnnl_primitive_execute(primitive.get(), Device::get().stream.get(),
                           static_cast<int>(a.list.size()), a.list.data());
  }

  ContractionProblem problem;
  dnnl_data_type_t type = dnnl_f32;
  int elementBytes = 4, threads = 1, workers = 1;
  int64_t entries = 1, scratch = 0, librarySlice = 0, libraryOffset = 0;
  std::optional<Packing> packedLhs, packedRhs, packedOut;
  bool addAfterwards = false;
  Descriptor descriptor;
  Primitive primitive;
  std::vector<Arguments> arguments;
};

} // namespace

std::unique_ptr<Contraction> Contraction::create(const MtcContraction &contraction, int threads,
                                                 bool executable) {
  ContractionProblem problem = simplifyContraction(contraction);
  if (libraryType(contraction.type) && !problem.isEmpty() && problem.k() > 0 &&
      Device::get().stream) {
    auto result = std::make_unique<LibraryContraction>();
    if (result->plan(contraction, problem, threads) && (!executable || result->build()))
      return result;
  }
  return createLoopContraction(contraction, problem, threads);
}

int usefulThreads(const MtcContraction &contraction, int threads) {
  constexpr double flopsOfAThread = 5e5; // about 5 microseconds
  double flops = 2.0 * static_cast<double>(contraction.m) * static_cast<double>(contraction.n) *
                 static_cast<double>(contraction.k);
  for (uint32_t i = 0; i < contraction.batch_rank; ++i)
    flops *= static_cast<double>(contraction.batch[i]);
  return static_cast<int>(std::clamp(flops / flopsOfAThread, 1.0, static_cast<double>(threads)));
}

} // namespace mtc::runtime

/// Calls `ask` for the thread counts up to `threads`: all of a few, the powers of two of many.
template <typename Ask> static void forThreadCounts(int threads, const Ask &ask) {
  for (int t = 1; t < threads; t = t < 16 ? t + 1 : t * 2)
    ask(t);
  ask(std::max(threads, 1));
}

extern "C" int64_t mtc_contraction_scratch_bytes(const MtcContraction *contraction, int threads) {
  int64_t most = 0;
  forThreadCounts(threads, [&](int t) {
    auto plan = mtc::runtime::Contraction::create(*contraction, t, false);
    most = plan && most >= 0 ? std::max(most, plan->scratchBytes()) : -1;
  });
  return most;
}

extern "C" MtcContractionRate mtc_contraction_rate(const MtcContraction *contraction, int threads) {
  auto plan = mtc::runtime::Contraction::create(*contraction, threads, false);
  return plan ? plan->rate() : MTC_CONTRACTION_UNSUPPORTED;
}
