// Labels of operations, and the message for a fault.
#include "runtime/devices/operation_info.h"

#include "runtime/abi/collective.h"
#include "runtime/support/failure.h"

#include <numeric>
#include <utility>

namespace mtc::runtime {

OperationInfo describeOperation(const MtcProgram &program, const MtcOperation &source,
                                size_t number, std::string implementation) {
  switch (source.kind) {
  case MTC_LAUNCH: {
    const MtcKernel &kernel = program.kernels[source.index];
    return {&source, number, "", kernel.name, kernel.flops, kernel.bytes};
  }
  case MTC_HOST_LAUNCH: {
    const MtcKernel &kernel = program.kernels[source.index];
    return {&source, number, "host", text(kernel.name, " host"), kernel.flops, kernel.bytes};
  }
  case MTC_CALL: {
    const MtcCall &call = program.calls[source.index];
    std::string label = text(call.kind, " ", implementation);
    return {&source, number, std::move(implementation), label, call.flops, call.bytes};
  }
  case MTC_TRANSFER: {
    const MtcCollective &collective = program.collectives[source.index];
    const int64_t elements =
        std::accumulate(collective.totals, collective.totals + collective.count, int64_t{0});
    return {&source, number,
            "",      mtc_collective_name(collective.kind),
            0,       elements * collective.element_bytes};
  }
  case MTC_REPEAT:
    return {&source, number, "", "repeat", 0, 0};
  default:
    return {&source, number, "", "copy", 0, 2 * source.bytes};
  }
}

void reportFault(const MtcOperation &operation, const MtcFault &fault) {
  userError(operation.nodes, ": index ", fault.index, " is outside its operand, which takes ",
            -fault.extent, " to ", fault.extent - 1, "; check the data and the model");
}

} // namespace mtc::runtime
