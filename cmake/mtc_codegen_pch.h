// The headers that many files of code generation include, parsed once.
#ifndef MTC_CODEGEN_PCH_H
#define MTC_CODEGEN_PCH_H

#include "cmake/mtc_pch.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#endif // MTC_CODEGEN_PCH_H
