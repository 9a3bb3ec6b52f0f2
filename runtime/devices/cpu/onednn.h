// Primitives of oneDNN, through its C API, which allows arguments to be prepared before execution.
#ifndef MTC_RUNTIME_DEVICES_CPU_ONEDNN_H
#define MTC_RUNTIME_DEVICES_CPU_ONEDNN_H

#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Returns the library's element type; nullopt if it has no equivalent.
std::optional<dnnl_data_type_t> libraryType(uint32_t type);

/// Returns whether the library multiplies elements of a 16-bit type with native instructions.
/// Without them, the bf16 throughput of oneDNN is a fraction of f32's, and version 2.6 has no f16
/// support.
bool libraryMultiplies(uint32_t type);

/// Returns the library's version and the number of the instruction set that it uses.
const char *libraryVersion();

/// Returns whether the library supports the extents of a tensor. It stores extents in 64 bits, but
/// implementations compute in 32 bits (2.6 divides by an extent of 2^32, which is truncated to 0).
bool hasLibraryExtents(const dnnl_memory_desc_t &tensor);

/// Returns whether `threads` threads of the library's f32 gemm may compute parts of the same sums:
/// of `terms` terms, in a result of `rows` x `columns` or the transpose. Each thread then spins
/// until the others have computed their parts, which takes long if other processes use the cores.
bool gemmMaySplitSums(int64_t rows, int64_t columns, int64_t terms, int threads);

/// Returns the library's CPU engine; null if the library cannot create it.
dnnl_engine_t libraryEngine();

template <typename T, dnnl_status_t (*Destroy)(T *)> struct LibraryDestroyer {
  void operator()(T *object) const { Destroy(object); }
};
using LibraryDescriptor =
    std::unique_ptr<dnnl_primitive_desc,
                    LibraryDestroyer<dnnl_primitive_desc, dnnl_primitive_desc_destroy>>;
using LibraryAttributes =
    std::unique_ptr<dnnl_primitive_attr,
                    LibraryDestroyer<dnnl_primitive_attr, dnnl_primitive_attr_destroy>>;

/// Returns attributes of a primitive with a user-provided scratchpad; null on failure.
LibraryAttributes userScratchAttributes();

/// Adds post-operations to a primitive that add `addends`, whose arguments are named by
/// `addendName`, then the destination's previous contents (`accumulate`). Returns false on failure.
bool setAddends(dnnl_primitive_attr_t attributes, bool accumulate,
                const std::vector<dnnl_memory_desc_t> &addends);
/// Returns the argument name of an addend.
inline int addendName(size_t number) {
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(number)) | DNNL_ARG_SRC_1;
}

class LibraryPrimitive {
public:
  struct Operand {
    int name; ///< argument name of the library, such as DNNL_ARG_SRC
    dnnl_memory_desc_t layout;
  };

  /// Wraps a descriptor that was created for `threads` threads, with attributes from
  /// `userScratchAttributes`. Returns null if the library only has its reference implementation,
  /// which is hundreds of times slower.
  static std::unique_ptr<LibraryPrimitive> own(LibraryDescriptor descriptor,
                                               std::vector<Operand> operands, int threads);

  /// Plans a copy of a tensor to another layout. Returns null under the same conditions as `own`.
  static std::unique_ptr<LibraryPrimitive> planReorder(const dnnl_memory_desc_t &from,
                                                       const dnnl_memory_desc_t &to, int threads);

  int64_t scratchBytes() const;
  /// Returns the library's name of the implementation: `brg:avx512_core`, `gemm:jit`.
  std::string name() const;
  /// Returns whether the implementation allocates buffers outside the scratch.
  bool allocates() const;

  /// Generates the code, and arguments for `workers` concurrent callers of `run`.
  bool build(int workers);
  /// Runs the primitive with the thread count of the calling thread (LibraryThreads). `buffers` has
  /// one address per operand.
  void run(int worker, const char *const *buffers, char *scratch);

private:
  LibraryPrimitive() = default;

  using Primitive =
      std::unique_ptr<dnnl_primitive, LibraryDestroyer<dnnl_primitive, dnnl_primitive_destroy>>;
  using Memory = std::unique_ptr<dnnl_memory, LibraryDestroyer<dnnl_memory, dnnl_memory_destroy>>;
  struct Arguments {
    std::vector<Memory> owned; ///< in the order of `operands`
    std::vector<dnnl_exec_arg_t> list;
  };

  int threads = 1;
  LibraryDescriptor descriptor;
  std::vector<Operand> operands; ///< the scratchpad is last
  Primitive primitive;
  std::vector<Arguments> arguments; ///< one per worker
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ONEDNN_H
