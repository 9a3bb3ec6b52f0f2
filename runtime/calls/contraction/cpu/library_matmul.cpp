// Descriptors, primitives and memory objects of oneDNN.
#include "runtime/calls/contraction/cpu/library_matmul.h"

#include "runtime/devices/cpu/parallel.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace mtc::runtime {
namespace {

/// The processor, as the library sees it; it lives as long as the process.
struct Device {
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

  Device() {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
      stream = nullptr;
  }
  static Device &get() {
    static Device device;
    return device;
  }
};

/// The last `inner` batch axes and the matrix, as the library's tensor; `stride` gives an axis's
/// stride. A broadcast axis has extent 1 there.
template <typename Stride>
dnnl_memory_desc_t describe(const ContractionProblem &p, size_t inner, const MatrixLayout &matrix,
                            const Stride &stride, dnnl_data_type_t type) {
  dnnl_dims_t extents, strides;
  const int rank = static_cast<int>(inner) + 2;
  int64_t elements = 1;
  auto setAxis = [&](int axis, int64_t extent, int64_t step) {
    extents[axis] = step == 0 ? 1 : extent;
    strides[axis] = step == 0 ? elements : step;
    elements *= extents[axis];
  };
  setAxis(rank - 1, matrix.columns, matrix.columnStride);
  setAxis(rank - 2, matrix.rows, matrix.rowStride);
  for (size_t i = inner; i-- > 0;) {
    const BatchAxis &axis = p.batch[p.batch.size() - inner + i];
    setAxis(static_cast<int>(i), axis.extent, stride(axis));
  }
  dnnl_memory_desc_t description;
  dnnl_memory_desc_init_by_strides(&description, rank, extents, type, strides);
  return description;
}

/// Whether an addend is one row for all rows and entries: what the library calls a bias.
bool isBias(const ContractionProblem &p, size_t inner, size_t addend) {
  const MatrixLayout &layout = p.addends[addend];
  return layout.rowStride == 0 && layout.columnStride == 1 &&
         std::all_of(p.batch.end() - static_cast<std::ptrdiff_t>(inner), p.batch.end(),
                     [=](const BatchAxis &axis) { return axis.addends[addend] == 0; });
}

/// Whether an addend's elements lie as the result's do. The library (2.6) takes other layouts too,
/// and then reads wrong elements.
bool liesAsResult(const ContractionProblem &p, size_t inner, size_t addend) {
  const MatrixLayout &layout = p.addends[addend];
  return layout.rowStride == p.out.rowStride && layout.columnStride == p.out.columnStride &&
         std::all_of(p.batch.end() - static_cast<std::ptrdiff_t>(inner), p.batch.end(),
                     [=](const BatchAxis &axis) { return axis.addends[addend] == axis.out; });
}

/// Scratch in memory of the caller's; accumulation as a sum after the product, then `added`.
bool setAttributes(dnnl_primitive_attr_t attributes, bool accumulate,
                   const std::vector<dnnl_memory_desc_t> &added) {
  if (dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) !=
      dnnl_success)
    return false;
  if (!accumulate && added.empty())
    return true;
  dnnl_post_ops_t operations = nullptr;
  if (dnnl_post_ops_create(&operations) != dnnl_success)
    return false;
  bool done = !accumulate || dnnl_post_ops_append_sum(operations, 1.0f) == dnnl_success;
  for (const dnnl_memory_desc_t &addend : added)
    done =
        done && dnnl_post_ops_append_binary(operations, dnnl_binary_add, &addend) == dnnl_success;
  done = done && dnnl_primitive_attr_set_post_ops(attributes, operations) == dnnl_success;
  dnnl_post_ops_destroy(operations);
  return done;
}

} // namespace

std::optional<dnnl_data_type_t> libraryType(uint32_t type) {
  if (type == MTC_F32)
    return dnnl_f32;
  if (type == MTC_BF16)
    return dnnl_bf16;
  return std::nullopt;
}

std::unique_ptr<LibraryMatmul> LibraryMatmul::plan(const ContractionProblem &problem, size_t inner,
                                                   dnnl_data_type_t type, bool accumulate,
                                                   int threads) {
  auto describeOperand = [&](const MatrixLayout &matrix, const auto &stride) {
    return describe(problem, inner, matrix, stride, type);
  };
  dnnl_memory_desc_t lhs = describeOperand(problem.lhs, std::mem_fn(&BatchAxis::lhs)),
                     rhs = describeOperand(problem.rhs, std::mem_fn(&BatchAxis::rhs)),
                     out = describeOperand(problem.out, std::mem_fn(&BatchAxis::out));
  auto result = std::make_unique<LibraryMatmul>();
  result->operands = {
      {DNNL_ARG_SRC, lhs}, {DNNL_ARG_WEIGHTS, rhs}, {DNNL_ARG_DST, out}, {DNNL_ARG_SCRATCHPAD, {}}};
  const dnnl_memory_desc_t *bias = nullptr;
  std::vector<dnnl_memory_desc_t> added, addends;
  for (size_t i = 0; i < problem.addends.size(); ++i)
    addends.push_back(describeOperand(problem.addends[i],
                                      [i](const BatchAxis &axis) { return axis.addends[i]; }));
  for (size_t i = 0; i < addends.size(); ++i) {
    int name = DNNL_ARG_BIAS;
    if (!bias && isBias(problem, inner, i)) {
      bias = &addends[i];
    } else {
      if (!liesAsResult(problem, inner, i))
        return nullptr;
      name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(added.size()) + accumulate) |
             DNNL_ARG_SRC_1;
      added.push_back(addends[i]);
    }
    result->operands.push_back({name, addends[i]});
  }
  dnnl_matmul_desc_t operation;
  dnnl_primitive_attr_t attributes = nullptr;
  if (!Device::get().stream ||
      dnnl_matmul_desc_init(&operation, &lhs, &rhs, bias, &out) != dnnl_success ||
      dnnl_primitive_attr_create(&attributes) != dnnl_success)
    return nullptr;
  result->threads = threads;
  LibraryThreads scope(threads);
  dnnl_primitive_desc_t raw = nullptr;
  bool planned = setAttributes(attributes, accumulate, added) &&
                 dnnl_primitive_desc_create(&raw, &operation, attributes, Device::get().engine,
                                            nullptr) == dnnl_success;
  dnnl_primitive_attr_destroy(attributes);
  if (!planned)
    return nullptr;
  result->descriptor.reset(raw);
  result->operands[scratchOperand].layout =
      *dnnl_primitive_desc_query_md(raw, dnnl_query_scratchpad_md, 0);
  return result->name().rfind("ref", 0) == 0 ? nullptr : std::move(result);
}

int64_t LibraryMatmul::scratchBytes() const {
  return static_cast<int64_t>(dnnl_memory_desc_get_size(&operands[scratchOperand].layout));
}

std::string LibraryMatmul::name() const {
  const char *name = "";
  dnnl_primitive_desc_query(descriptor.get(), dnnl_query_impl_info_str, 0, &name);
  return name;
}

bool LibraryMatmul::build(int workers) {
  LibraryThreads scope(threads);
  dnnl_primitive_t raw = nullptr;
  if (dnnl_primitive_create(&raw, descriptor.get()) != dnnl_success)
    return false;
  primitive.reset(raw);
  arguments.resize(static_cast<size_t>(workers));
  for (Arguments &a : arguments)
    for (const Operand &operand : operands) {
      dnnl_memory_t memory = nullptr;
      if (dnnl_memory_create(&memory, &operand.layout, Device::get().engine, DNNL_MEMORY_NONE) !=
          dnnl_success)
        return false;
      a.owned.emplace_back(memory);
      a.list.push_back({operand.name, memory});
    }
  return true;
}

void LibraryMatmul::run(int worker, const char *lhs, const char *rhs, const char *const *addends,
                        char *out, char *scratch) {
  Arguments &a = arguments[static_cast<size_t>(worker)];
  void *const fixed[] = {const_cast<char *>(lhs), const_cast<char *>(rhs), out, scratch};
  for (size_t i = 0; i < a.list.size(); ++i)
    dnnl_memory_set_data_handle(
        a.list[i].memory,
        i < std::size(fixed) ? fixed[i] : const_cast<char *>(addends[i - std::size(fixed)]));
  dnnl_primitive_execute(primitive.get(), Device::get().stream, static_cast<int>(a.list.size()),
                         a.list.data());
}

} // namespace mtc::runtime
