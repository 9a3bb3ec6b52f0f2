//===- CallDescription.h - Library calls as the program's ABI describes them ------------------===//

#ifndef MTC_CODEGEN_TARGET_CALLDESCRIPTION_H
#define MTC_CODEGEN_TARGET_CALLDESCRIPTION_H

#include "ir/Mtc.h"
#include "runtime/abi/library_call.h"

namespace mtc {

/// The ABI's struct of a call, as bytes; it holds no pointers.
struct CallDescription {
  MtcCallKind kind;
  std::string bytes;

  /// Equal for equal calls.
  std::string key() const { return std::to_string(kind) + ':' + bytes; }
};

/// What the runtime is told of a placed library call.
CallDescription describeCall(mlir::Operation *placed);

/// The ABI's number of an element type.
MtcType typeCode(mlir::Type element);

} // namespace mtc

#endif // MTC_CODEGEN_TARGET_CALLDESCRIPTION_H
