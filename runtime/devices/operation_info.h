// Properties of an operation that all targets share, in addition to its MtcOperation.
#ifndef MTC_RUNTIME_DEVICES_OPERATION_INFO_H
#define MTC_RUNTIME_DEVICES_OPERATION_INFO_H

#include "runtime/abi/program.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mtc::runtime {

struct OperationInfo {
  const MtcOperation *source;
  size_t number;              ///< unique across all functions
  std::string implementation; ///< name of a library call's implementation
  std::string label;          ///< the kernel, or the call and its implementation
  int64_t flops, bytes;       ///< operations and bytes of one run
  /// The repeat that contains the operation, and its current iteration.
  const MtcOperation *repeat = nullptr;
  int64_t iteration = 0;
};

/// `implementation` applies to library calls.
OperationInfo describeOperation(const MtcProgram &program, const MtcOperation &source,
                                size_t number, std::string implementation = "");

/// Ends the run with a user error for an out-of-range index that a kernel reported.
[[noreturn]] void reportFault(const MtcOperation &operation, const MtcFault &fault);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_OPERATION_INFO_H
