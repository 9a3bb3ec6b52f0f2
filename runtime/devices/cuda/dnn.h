// The functions of cuDNN's graph API that programs use, declared here for the reasons given in
// driver.h. A graph consists of descriptors: typed objects with attributes, which must be finalized
// before other descriptors refer to them.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_H

#include "runtime/abi/element_types.h"
#include "runtime/devices/gpu/driver.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mtc::runtime::cuda::dnn {

using Handle = struct HandleObject *;
using RawDescriptor = struct DescriptorObject *;

// Values of the library's enumerations.

enum Kind : int { // cudnnBackendDescriptorType_t
  pointwiseKind = 0,
  convolutionKind = 1,
  engineKind = 2,
  configurationKind = 3,
  heuristicsKind = 4,
  planKind = 5,
  convolutionForward = 10,
  convolutionBackwardFilter = 11,
  convolutionBackwardData = 12,
  pointwiseOperation = 13,
  graphKind = 15,
  variantPackKind = 16,
  tensorKind = 17,
  matmulKind = 18,
  matmulOperation = 19,
  reductionKind = 21,
  reductionOperation = 22,
  reshapeOperation = 31,
  deviceKind = 38
};

enum Attribute : int { // cudnnBackendAttributeName_t
  pointwiseMode = 0,
  pointwisePrecision = 1,
  pointwiseAxis = 9,
  convolutionPrecision = 100,
  convolutionMode = 101,
  convolutionDilations = 102,
  convolutionStrides = 103,
  convolutionAfter = 104,
  convolutionBefore = 105,
  convolutionAxes = 106,
  heuristicsMode = 200,
  heuristicsGraph = 201,
  heuristicsResults = 202,
  heuristicsDevice = 204,
  configurationEngine = 300,
  configurationWorkspace = 303,
  planConfiguration = 401,
  planWorkspace = 402,
  planDevice = 407,
  firstOfForward = 700, ///< the first of six: see ConvolutionAttributes
  firstOfBackwardData = 706,
  firstOfBackwardFilter = 712,
  operationPointwise = 750,
  pointwiseX = 751,
  pointwiseB = 752,
  pointwiseY = 753,
  pointwiseT = 758,
  graphOperations = 801,
  tensorAlignment = 900,
  tensorType = 901,
  tensorExtents = 902,
  tensorStrides = 903,
  tensorId = 906,
  tensorIsVirtual = 907,
  tensorIsByValue = 908,
  packIds = 1000,
  packPointers = 1001,
  packWorkspace = 1003,
  engineIndex = 1301,
  engineNotes = 1303,
  matmulPrecision = 1500,
  matmulA = 1520,
  matmulB = 1521,
  matmulC = 1522,
  operationMatmul = 1523,
  reductionOperator = 1600,
  reductionPrecision = 1601,
  reductionX = 1610,
  reductionY = 1611,
  operationReduction = 1612,
  reshapeX = 2200,
  reshapeY = 2201,
  deviceHandle = 2701,
  deviceJson = 2702
};

/// The attributes of a convolution operation, which are numbered consecutively for each direction.
struct ConvolutionAttributes {
  Attribute alpha, beta, convolution, w, x, y; ///< or the gradients dw, dx, dy
};
constexpr ConvolutionAttributes attributesOf(Kind direction) {
  const int first = direction == convolutionForward        ? firstOfForward
                    : direction == convolutionBackwardData ? firstOfBackwardData
                                                           : firstOfBackwardFilter;
  auto at = [=](int place) { return static_cast<Attribute>(first + place); };
  return {at(0), at(1), at(2), at(3), at(4), at(5)};
}

enum AttributeType : int { // cudnnBackendAttributeType_t
  handleType = 0,
  elementType = 1,
  booleanType = 2,
  int64Type = 3,
  floatType = 4,
  pointerType = 6,
  convolutionModeType = 7,
  heuristicsModeType = 8,
  noteType = 11,
  pointwiseModeType = 14,
  descriptorType = 15,
  reductionType = 18,
  charType = 24
};

enum Element : int { f32 = 0, f16 = 2, i32 = 4, bf16 = 9, boolean = 11 }; // cudnnDataType_t

/// Returns the library's name of an MtcType that its calls support.
inline Element elementOf(uint32_t type) {
  return type == MTC_F16 ? f16 : type == MTC_BF16 ? bf16 : f32;
}

enum Pointwise : int { // cudnnPointwiseMode_t
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exponential = 13,
  logarithm = 15,
  relu = 100,
  isAtLeast = 303,
  index = 501, ///< index along an axis
  select = 601 ///< t ? x : b
};

enum Reduction : int { sumReduction = 0, maximumReduction = 3 }; // cudnnReduceTensorOp_t
constexpr int crossCorrelation = 1;                              // cudnnConvolutionMode_t

enum Heuristics : int { fallback = 2, best = 3 }; // cudnnBackendHeurMode_t

/// Numerical properties of an engine, as a bit set indexed by cudnnBackendNumericalNote_t.
enum Note : uint32_t {
  usesTensorCores = 1u << 0, ///< f32 operands are rounded to tf32
  roundsInputs = 1u << 1,    ///< inputs are rounded to 16 bits
  roundsSums = 1u << 2,
  isNondeterministic = 1u << 4
};

struct Library {
  size_t (*version)(); ///< 10000 * major + 100 * minor + patch
  int (*create)(Handle *handle);
  int (*destroy)(Handle handle);
  int (*setStream)(Handle handle, gpu::Stream stream);
  /// Returns the message of the calling thread's last failed call.
  void (*lastError)(char *message, size_t bytes);
  int (*createDescriptor)(int kind, RawDescriptor *descriptor);
  int (*destroyDescriptor)(RawDescriptor descriptor);
  int (*setAttribute)(RawDescriptor descriptor, int attribute, int type, int64_t count,
                      const void *values);
  int (*getAttribute)(RawDescriptor descriptor, int attribute, int type, int64_t wanted,
                      int64_t *count, void *values);
  int (*finalize)(RawDescriptor descriptor);
  int (*execute)(Handle handle, RawDescriptor plan, RawDescriptor variantPack);
};

/// Returns null if cuDNN 9.19 or later, with which the graphs were verified, is not available:
/// attention computes wrong results in 9.10, as does its gradient up to 9.15 if the number of keys
/// is not a multiple of 128. Also returns null if the environment variable MTC_CUDNN is 0.
const Library *openLibrary();

/// Returns why the library is not available, for messages: "is not installed here".
std::string describeAbsence();

/// Returns whether the library takes precedence over the program's own code for a call. In an
/// emulated program this is the case only if MTC_CUDNN is 1, because emulation is meant to check
/// the program's own kernels.
bool isPreferred();

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_H
