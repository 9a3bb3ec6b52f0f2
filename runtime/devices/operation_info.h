// What is known of an operation beside its entry in the program, whatever runs it.
#ifndef MTC_RUNTIME_DEVICES_OPERATION_INFO_H
#define MTC_RUNTIME_DEVICES_OPERATION_INFO_H

#include "runtime/abi/program.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mtc::runtime {

struct OperationInfo {
  const MtcOperation *source;
  size_t number;              ///< counts over all functions
  std::string implementation; ///< of a library call: how it is run
  std::string label;          ///< the kernel, or the call and its implementation
  int64_t flops, bytes;       ///< of one run
};

/// `implementation` is that of a call.
OperationInfo describeOperation(const MtcProgram &program, const MtcOperation &source,
                                size_t number, std::string implementation = "");

/// The end of a run by an index that a kernel found: a mistake of the user.
[[noreturn]] void reportFault(const MtcOperation &operation, const MtcFault &fault);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DEVICES_OPERATION_INFO_H
