//===- CpuDialect.h - The target `cpu` as an attribute ----------------------------------------===//

#ifndef MTC_CODEGEN_CPU_CPUDIALECT_H
#define MTC_CODEGEN_CPU_CPUDIALECT_H

#include "ir/Mtc.h"

#include "codegen/cpu/CpuDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/cpu/CpuAttributes.h.inc"

#endif // MTC_CODEGEN_CPU_CPUDIALECT_H
