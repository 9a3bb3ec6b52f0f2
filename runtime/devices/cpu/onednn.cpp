// Descriptors, primitives and memory objects of oneDNN.
#include "runtime/devices/cpu/onednn.h"

#include "runtime/abi/program.h"
#include "runtime/devices/cpu/threads/parallel.h"

#include <algorithm>

namespace mtc::runtime {
namespace {

/// The CPU engine and stream, which exist for the lifetime of the process.
struct Processor {
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

  Processor() {
    if (dnnl_engine_create(&engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) != dnnl_success)
      engine = nullptr;
  }
  static Processor &get() {
    static Processor processor;
    return processor;
  }
};

} // namespace

std::optional<dnnl_data_type_t> libraryType(uint32_t type) {
  if (type == MTC_F32)
    return dnnl_f32;
  if (type == MTC_BF16)
    return dnnl_bf16;
  return std::nullopt;
}

bool libraryMultiplies(uint32_t type) {
  constexpr auto needed = static_cast<unsigned>(dnnl_cpu_isa_avx512_core_bf16);
  return type == MTC_BF16 &&
         (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & needed) == needed;
}

const char *libraryVersion() {
  static const std::string text = [] {
    const dnnl_version_t &version = *dnnl_version();
    std::string joined = "oneDNN";
    for (int number : {version.major, version.minor, version.patch,
                       static_cast<int>(dnnl_get_effective_cpu_isa())})
      joined += ' ' + std::to_string(number);
    return joined;
  }();
  return text.c_str();
}

bool hasLibraryExtents(const dnnl_memory_desc_t &tensor) {
  return std::all_of(tensor.dims, tensor.dims + tensor.ndims,
                     [](dnnl_dim_t extent) { return extent <= INT32_MAX; });
}

/// The conditions of oneDNN 2.6 (calc_nthr_nocopy_avx512_common and calc_nthr_nocopy_avx in
/// gemm_utils_f32.cpp), for either order of rows and columns.
bool gemmMaySplitSums(int64_t rows, int64_t columns, int64_t terms, int threads) {
  const auto [few, many] = std::minmax(rows, columns);
  constexpr auto avx512 = static_cast<unsigned>(dnnl_cpu_isa_avx512_core);
  if ((static_cast<unsigned>(dnnl_get_effective_cpu_isa()) & avx512) == avx512)
    return threads >= 8 && terms >= 384 && terms > many && few <= 128 &&
           many <= std::max(64 * threads, 128);
  constexpr int64_t tile = 64;
  return terms > 768 && ((few + tile - 1) / tile) * ((many + tile - 1) / tile) < threads;
}

dnnl_engine_t libraryEngine() { return Processor::get().engine; }

LibraryAttributes userScratchAttributes() {
  dnnl_primitive_attr_t attributes = nullptr;
  if (dnnl_primitive_attr_create(&attributes) != dnnl_success)
    return nullptr;
  LibraryAttributes owned(attributes);
  if (dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user) !=
      dnnl_success)
    return nullptr;
  return owned;
}

bool setAddends(dnnl_primitive_attr_t attributes, bool accumulate,
                const std::vector<dnnl_memory_desc_t> &addends) {
  if (!accumulate && addends.empty())
    return true;
  dnnl_post_ops_t operations = nullptr;
  if (dnnl_post_ops_create(&operations) != dnnl_success)
    return false;
  bool done = true;
  for (const dnnl_memory_desc_t &addend : addends)
    done =
        done && dnnl_post_ops_append_binary(operations, dnnl_binary_add, &addend) == dnnl_success;
  done = done && (!accumulate || dnnl_post_ops_append_sum(operations, 1.0f) == dnnl_success);
  done = done && dnnl_primitive_attr_set_post_ops(attributes, operations) == dnnl_success;
  dnnl_post_ops_destroy(operations);
  return done;
}

std::unique_ptr<LibraryPrimitive>
LibraryPrimitive::own(LibraryDescriptor descriptor, std::vector<Operand> operands, int threads) {
  std::unique_ptr<LibraryPrimitive> result(new LibraryPrimitive());
  result->threads = threads;
  result->operands = std::move(operands);
  result->operands.push_back(
      {DNNL_ARG_SCRATCHPAD,
       *dnnl_primitive_desc_query_md(descriptor.get(), dnnl_query_scratchpad_md, 0)});
  result->descriptor = std::move(descriptor);
  return result->name().rfind("ref", 0) == 0 ? nullptr : std::move(result);
}

std::unique_ptr<LibraryPrimitive> LibraryPrimitive::planReorder(const dnnl_memory_desc_t &from,
                                                                const dnnl_memory_desc_t &to,
                                                                int threads) {
  LibraryThreads scope(threads);
  LibraryAttributes attributes = userScratchAttributes();
  dnnl_primitive_desc_t raw = nullptr;
  if (!attributes ||
      dnnl_reorder_primitive_desc_create(&raw, &from, libraryEngine(), &to, libraryEngine(),
                                         attributes.get()) != dnnl_success)
    return nullptr;
  return own(LibraryDescriptor(raw), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, threads);
}

int64_t LibraryPrimitive::scratchBytes() const {
  return static_cast<int64_t>(dnnl_memory_desc_get_size(&operands.back().layout));
}

std::string LibraryPrimitive::name() const {
  const char *name = "";
  dnnl_primitive_desc_query(descriptor.get(), dnnl_query_impl_info_str, 0, &name);
  return name;
}

bool LibraryPrimitive::allocates() const { return name().find("gemm:") != std::string::npos; }

bool LibraryPrimitive::build(int workers) {
  LibraryThreads scope(threads);
  dnnl_primitive_t raw = nullptr;
  if (dnnl_primitive_create(&raw, descriptor.get()) != dnnl_success)
    return false;
  primitive.reset(raw);
  arguments.resize(static_cast<size_t>(workers));
  for (Arguments &a : arguments)
    for (const Operand &operand : operands) {
      dnnl_memory_t memory = nullptr;
      if (dnnl_memory_create(&memory, &operand.layout, libraryEngine(), DNNL_MEMORY_NONE) !=
          dnnl_success)
        return false;
      a.owned.emplace_back(memory);
      a.list.push_back({operand.name, memory});
    }
  return true;
}

void LibraryPrimitive::run(int worker, const char *const *buffers, char *scratch) {
  Arguments &a = arguments[static_cast<size_t>(worker)];
  for (size_t i = 0; i + 1 < a.list.size(); ++i)
    dnnl_memory_set_data_handle(a.list[i].memory, const_cast<char *>(buffers[i]));
  dnnl_memory_set_data_handle(a.list.back().memory, scratch);
  // Some implementations query the number of threads only during execution.
  LibraryThreads scope(threads);
  dnnl_primitive_execute(primitive.get(), Processor::get().stream, static_cast<int>(a.list.size()),
                         a.list.data());
}

} // namespace mtc::runtime
