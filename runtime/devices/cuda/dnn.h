// The functions of cuDNN's graph interface that programs use, declared here as in driver.h. A graph
// is made of descriptors: objects of one kind each, with attributes, that are finalized before
// others refer to them.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DNN_H
#define MTC_RUNTIME_DEVICES_CUDA_DNN_H

#include "runtime/devices/cuda/driver.h"

#include <cstddef>
#include <cstdint>

namespace mtc::runtime::cuda::dnn {

using Handle = struct HandleObject *;
using RawDescriptor = struct DescriptorObject *;

// Values of the library's enumerations.

enum Kind : int { // cudnnBackendDescriptorType_t
  pointwiseKind = 0,
  engineKind = 2,
  configurationKind = 3,
  heuristicsKind = 4,
  planKind = 5,
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
  heuristicsMode = 200,
  heuristicsGraph = 201,
  heuristicsResults = 202,
  heuristicsDevice = 204,
  configurationEngine = 300,
  configurationWorkspace = 303,
  planConfiguration = 401,
  planWorkspace = 402,
  planDevice = 407,
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

enum AttributeType : int { // cudnnBackendAttributeType_t
  handleType = 0,
  elementType = 1,
  booleanType = 2,
  int64Type = 3,
  pointerType = 6,
  heuristicsModeType = 8,
  pointwiseModeType = 14,
  descriptorType = 15,
  reductionType = 18,
  charType = 24
};

enum Element : int { f32 = 0, f16 = 2, i32 = 4, bf16 = 9, boolean = 11 }; // cudnnDataType_t

enum Pointwise : int { // cudnnPointwiseMode_t
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exponential = 13,
  logarithm = 15,
  isAtLeast = 303,
  index = 501, ///< the position along an axis
  select = 601 ///< t ? x : b
};

enum Reduction : int { sumReduction = 0, maximumReduction = 3 }; // cudnnReduceTensorOp_t
constexpr int bestHeuristics = 3;                                // CUDNN_HEUR_MODE_A

struct Library {
  size_t (*version)(); ///< 10000 for a major version, 100 for a minor one
  int (*create)(Handle *handle);
  int (*destroy)(Handle handle);
  int (*setStream)(Handle handle, Stream stream);
  /// What the last call of this thread that failed says.
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

/// Null if there is no cuDNN of version 9.19 or later, with which the graphs were checked:
/// attention is faulty in 9.10, and its gradient up to 9.15 where keys are no multiple of 128. Null
/// as well where the variable MTC_CUDNN is 0. In an emulated program, the emulated one where it is
/// 1: the program's own kernels are what is to be checked otherwise.
const Library *openLibrary();

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_DNN_H
