// Descriptors, primitives and memory objects of oneDNN.
#include "runtime/library_matmul.h"

#include "runtime/parallel.h"

#include <cstring>

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

/// Scratch in memory of the caller's; accumulation as a sum after the product.
bool setAttributes(dnnl_primitive_attr_t attributes, bool accumulate) {
  if (dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) !=
      dnnl_success)
    return false;
  if (!accumulate)
    return true;
  dnnl_post_ops_t operations = nullptr;
  if (dnnl_post_ops_create(&operations) != dnnl_success)
    return false;
  bool done = dnnl_post_ops_append_sum(operations, 1.0f) == dnnl_success &&
              dnnl_primitive_attr_set_post_ops(attributes, operations) == dnnl_success;
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
  dnnl_memory_desc_t lhs = describe(problem, inner, problem.lhs, &BatchAxis::lhs, type);
  dnnl_memory_desc_t rhs = describe(problem, inner, problem.rhs, &BatchAxis::rhs, type);
  dnnl_memory_desc_t out = describe(problem, inner, problem.out, &BatchAxis::out, type);
  dnnl_matmul_desc_t operation;
  dnnl_primitive_attr_t attributes = nullptr;
  if (!Device::get().stream ||
      dnnl_matmul_desc_init(&operation, &lhs, &rhs, nullptr, &out) != dnnl_success ||
      dnnl_primitive_attr_create(&attributes) != dnnl_success)
    return nullptr;
  auto result = std::make_unique<LibraryMatmul>();
  result->threads = threads;
  LibraryThreads scope(threads);
  dnnl_primitive_desc_t raw = nullptr;
  bool planned = setAttributes(attributes, accumulate) &&
                 dnnl_primitive_desc_create(&raw, &operation, attributes, Device::get().engine,
                                            nullptr) == dnnl_success;
  dnnl_primitive_attr_destroy(attributes);
  if (!planned)
    return nullptr;
  result->descriptor.reset(raw);
  return result->name().rfind("ref", 0) == 0 ? nullptr : std::move(result);
}

int64_t LibraryMatmul::scratchBytes() const {
  return static_cast<int64_t>(dnnl_memory_desc_get_size(
      dnnl_primitive_desc_query_md(descriptor.get(), dnnl_query_scratchpad_md, 0)));
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
  constexpr dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md,
                                      dnnl_query_scratchpad_md};
  constexpr int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
  arguments.resize(static_cast<size_t>(workers));
  for (Arguments &a : arguments)
    for (size_t i = 0; i < a.list.size(); ++i) {
      dnnl_memory_t memory = nullptr;
      if (dnnl_memory_create(&memory, dnnl_primitive_desc_query_md(descriptor.get(), queries[i], 0),
                             Device::get().engine, DNNL_MEMORY_NONE) != dnnl_success)
        return false;
      a.owned[i].reset(memory);
      a.list[i] = {names[i], memory};
    }
  return true;
}

void LibraryMatmul::run(int worker, const char *lhs, const char *rhs, char *out, char *scratch) {
  Arguments &a = arguments[static_cast<size_t>(worker)];
  void *const operands[] = {const_cast<char *>(lhs), const_cast<char *>(rhs), out, scratch};
  for (size_t i = 0; i < a.list.size(); ++i)
    dnnl_memory_set_data_handle(a.list[i].memory, operands[i]);
  dnnl_primitive_execute(primitive.get(), Device::get().stream, static_cast<int>(a.list.size()),
                         a.list.data());
}

} // namespace mtc::runtime
