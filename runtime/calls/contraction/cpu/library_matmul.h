// One matmul of oneDNN, through its C interface: execution takes arrays of arguments prepared
// beforehand.
#ifndef MTC_RUNTIME_CALLS_CONTRACTION_CPU_LIBRARY_MATMUL_H
#define MTC_RUNTIME_CALLS_CONTRACTION_CPU_LIBRARY_MATMUL_H

#include "runtime/calls/contraction/problem.h"

#include <oneapi/dnnl/dnnl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The library's element type; nothing if its matmul has none like it.
std::optional<dnnl_data_type_t> libraryType(uint32_t type);

class LibraryMatmul {
public:
  /// The maximum number of batch axes of one matmul.
  static constexpr size_t maxBatchAxes = DNNL_MAX_NDIMS - 2;

  /// Plans a matmul over the last `inner` batch axes of the problem, its addends included, for
  /// `threads` threads; null if the library has none, or only its reference.
  static std::unique_ptr<LibraryMatmul> plan(const ContractionProblem &problem, size_t inner,
                                             dnnl_data_type_t type, bool accumulate, int threads);

  int64_t scratchBytes() const;
  /// The library's name of the implementation: `brg:avx512_core`, `gemm:jit`.
  std::string name() const;

  /// Generates the code, and arguments for `workers` callers of `run` at the same time.
  bool build(int workers);
  /// Runs on the threads that the calling thread lets the library use.
  void run(int worker, const char *lhs, const char *rhs, const char *const *addends, char *out,
           char *scratch);

private:
  template <typename T, dnnl_status_t (*Destroy)(T *)> struct Destroyer {
    void operator()(T *object) const { Destroy(object); }
  };
  using Descriptor = std::unique_ptr<dnnl_primitive_desc,
                                     Destroyer<dnnl_primitive_desc, dnnl_primitive_desc_destroy>>;
  using Primitive =
      std::unique_ptr<dnnl_primitive, Destroyer<dnnl_primitive, dnnl_primitive_destroy>>;
  using Memory = std::unique_ptr<dnnl_memory, Destroyer<dnnl_memory, dnnl_memory_destroy>>;
  struct Operand {
    int name; ///< of the library's: DNNL_ARG_SRC
    dnnl_memory_desc_t layout;
  };
  static constexpr size_t scratchOperand = 3;
  struct Arguments {
    std::vector<Memory> owned; ///< as `operands`
    std::vector<dnnl_exec_arg_t> list;
  };

  int threads = 1;
  std::vector<Operand> operands; ///< lhs, rhs, out, scratch, addends
  Descriptor descriptor;
  Primitive primitive;
  std::vector<Arguments> arguments; ///< one for each worker
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONTRACTION_CPU_LIBRARY_MATMUL_H
