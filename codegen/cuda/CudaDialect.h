//===- CudaDialect.h - The target `cuda` as an attribute --------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_CUDADIALECT_H
#define MTC_CODEGEN_CUDA_CUDADIALECT_H

#include "ir/Mtc.h"

#include "codegen/cuda/CudaDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cuda/CudaAttributes.h.inc"

#endif // MTC_CODEGEN_CUDA_CUDADIALECT_H
