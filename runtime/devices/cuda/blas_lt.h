// The functions of cuBLASLt that programs use, declared here for the reasons given in driver.h.
#ifndef MTC_RUNTIME_DEVICES_CUDA_BLAS_LT_H
#define MTC_RUNTIME_DEVICES_CUDA_BLAS_LT_H

#include "runtime/abi/element_types.h"
#include "runtime/devices/gpu/driver.h"

#include <cstddef>
#include <cstdint>

namespace mtc::runtime::cuda {

using BlasHandle = struct BlasContext *;
using MatrixLayoutHandle = struct MatrixLayoutObject *;
using MatmulDescription = struct MatmulDescriptionObject *;
using MatmulPreference = struct MatmulPreferenceObject *;

struct MatmulAlgorithm {
  uint64_t data[8];
};
struct MatmulHeuristic {
  MatmulAlgorithm algorithm;
  size_t workspaceBytes;
  int status; ///< 0: the algorithm can run
  float waves;
  int reserved[4];
};

/// Values of the library's enumerations.
enum ScalarType : int { blasF32 = 0, blasF64 = 1, blasF16 = 2, blasBf16 = 14 }; // cudaDataType_t
/// The library's names of the types that it multiplies.
struct BlasType {
  MtcType type;
  ScalarType scalar;
};
inline constexpr BlasType blasTypes[] = {
    {MTC_F32, blasF32}, {MTC_F64, blasF64}, {MTC_F16, blasF16}, {MTC_BF16, blasBf16}};

enum ComputeType : int { computeF32 = 68, computeF64 = 70, computeTf32 = 77 };
enum LayoutAttribute : int { batchCount = 5, batchStride = 6 };
enum DescriptionAttribute : int {
  transposeA = 3,
  transposeB = 4,
  epilogue = 7,
  biasPointer = 8,
  biasBatchStride = 10,
  auxiliaryPointer = 11,
  auxiliaryLeading = 12,
  auxiliaryBatchStride = 13
};
enum PreferenceAttribute : int {
  maxWorkspace = 1,
  reductionSchemes = 3,
  alignmentA = 5,
  alignmentB = 6,
  alignmentC = 7,
  alignmentD = 8
};
/// CUBLASLT_EPILOGUE_...; combined epilogues are bitwise ORs.
enum Epilogue : uint32_t {
  plainEpilogue = 1,
  biasEpilogue = 4,          ///< combined with gelu
  biasGradientEpilogue = 16, ///< combined with gelu's gradient: the row sums of D
  geluEpilogue = 32,
  geluGradientEpilogue = 64,
  auxiliaryEpilogue = 128,     ///< gelu writes the preactivation, its gradient reads it as a matrix
  biasGradientAEpilogue = 256, ///< row sums of A after its transposition
  biasGradientBEpilogue = 512  ///< column sums of B after its transposition
};
constexpr int32_t transposedOperand = 1; // CUBLAS_OP_T
constexpr uint32_t reduceApart = 2;      // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE

struct BlasLt {
  int (*create)(BlasHandle *handle);
  int (*destroy)(BlasHandle handle);
  const char *(*statusText)(int status);
  int (*createLayout)(MatrixLayoutHandle *layout, int type, uint64_t rows, uint64_t columns,
                      int64_t leading);
  int (*destroyLayout)(MatrixLayoutHandle layout);
  int (*setLayout)(MatrixLayoutHandle layout, int attribute, const void *value, size_t bytes);
  int (*createDescription)(MatmulDescription *description, int computeType, int scaleType);
  int (*destroyDescription)(MatmulDescription description);
  int (*setDescription)(MatmulDescription description, int attribute, const void *value,
                        size_t bytes);
  int (*createPreference)(MatmulPreference *preference);
  int (*destroyPreference)(MatmulPreference preference);
  int (*setPreference)(MatmulPreference preference, int attribute, const void *value, size_t bytes);
  int (*findAlgorithms)(BlasHandle handle, MatmulDescription description, MatrixLayoutHandle a,
                        MatrixLayoutHandle b, MatrixLayoutHandle c, MatrixLayoutHandle d,
                        MatmulPreference preference, int wanted, MatmulHeuristic *found,
                        int *foundCount);
  int (*matmul)(BlasHandle handle, MatmulDescription description, const void *alpha, const void *a,
                MatrixLayoutHandle aLayout, const void *b, MatrixLayoutHandle bLayout,
                const void *beta, const void *c, MatrixLayoutHandle cLayout, void *d,
                MatrixLayoutHandle dLayout, const MatmulAlgorithm *algorithm, void *workspace,
                size_t workspaceBytes, gpu::Stream stream);
};

/// Returns the library. Throws a system error, which states what was searched and what to install,
/// if there is no cuBLASLt. In an emulated program, returns the emulated library.
const BlasLt &openBlasLt();

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_BLAS_LT_H
