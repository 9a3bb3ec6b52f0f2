// Primitives of oneDNN, through its C interface: execution takes arrays of arguments prepared
// beforehand.
#ifndef MTC_RUNTIME_DEVICES_CPU_ONEDNN_H
#define MTC_RUNTIME_DEVICES_CPU_ONEDNN_H

#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The library's element type; nothing if it has none like it.
std::optional<dnnl_data_type_t> libraryType(uint32_t type);

/// Whether it multiplies elements of a 16-bit type with instructions for them. Without, oneDNN's
/// bf16 falls to a fraction of f32's rate; of f16 version 2.6 has nothing.
bool libraryMultiplies(uint32_t type);

/// Whether the library can compute with a tensor: it stores extents in 64 bits, but implementations
/// count in 32 (2.6 divides by an extent of 2^32, which is 0 there).
bool hasLibraryExtents(const dnnl_memory_desc_t &tensor);

/// The processor, as the library sees it; null if the library does not start.
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

/// Attributes of a primitive whose scratch memory is the caller's; null on failure.
LibraryAttributes userScratchAttributes();

/// Has a primitive add to its results what lies where they do (`accumulate`), then `addends`, whose
/// operands are named by `addendName`; false on failure.
bool setAddends(dnnl_primitive_attr_t attributes, bool accumulate,
                const std::vector<dnnl_memory_desc_t> &addends);
/// The operand that is the addend of this number.
inline int addendName(bool accumulate, size_t number) {
  return DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(number) + accumulate) | DNNL_ARG_SRC_1;
}

class LibraryPrimitive {
public:
  struct Operand {
    int name; ///< of the library's: DNNL_ARG_SRC
    dnnl_memory_desc_t layout;
  };

  /// Plans `operation` for `threads` threads, with attributes from `userScratchAttributes` and, of
  /// a gradient, the primitive that `forward` plans; null if the library has none, or only plain
  /// loops, which are hundreds of times slower than others.
  static std::unique_ptr<LibraryPrimitive> plan(const_dnnl_op_desc_t operation,
                                                const_dnnl_primitive_attr_t attributes,
                                                const_dnnl_primitive_desc_t forward,
                                                std::vector<Operand> operands, int threads);
  /// As `plan`, of a descriptor that was created for `threads` threads.
  static std::unique_ptr<LibraryPrimitive> own(LibraryDescriptor descriptor,
                                               std::vector<Operand> operands, int threads);

  int64_t scratchBytes() const;
  /// The library's name of the implementation: `brg:avx512_core`, `gemm:jit`.
  std::string name() const;
  /// Whether it takes buffers of its own from outside the scratch.
  bool allocates() const;

  /// Generates the code, and arguments for `workers` callers of `run` at the same time.
  bool build(int workers);
  /// Runs on the threads that the calling thread lets the library use. There is a buffer for each
  /// operand.
  void run(int worker, const char *const *buffers, char *scratch);

private:
  LibraryPrimitive() = default;

  using Primitive =
      std::unique_ptr<dnnl_primitive, LibraryDestroyer<dnnl_primitive, dnnl_primitive_destroy>>;
  using Memory = std::unique_ptr<dnnl_memory, LibraryDestroyer<dnnl_memory, dnnl_memory_destroy>>;
  struct Arguments {
    std::vector<Memory> owned; ///< as `operands`
    std::vector<dnnl_exec_arg_t> list;
  };

  int threads = 1;
  LibraryDescriptor descriptor;
  std::vector<Operand> operands; ///< the scratch last
  Primitive primitive;
  std::vector<Arguments> arguments; ///< one for each worker
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_CPU_ONEDNN_H
