// --profile-summary: the time of each part of a step, and its share of the peak throughput.
#ifndef MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H
#define MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H

#include "runtime/devices/device.h"
#include "runtime/reports/profile.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mtc::runtime {

/// Returns the summary of a profile. Measures the throughput of the device in temporary memory, so
/// the profiled run should have ended. Times are means per step, in seconds. Keys:
///
/// - `steps`, `mean_step_seconds`, `step_seconds` of the fastest step, to which all other numbers
///   refer, `threads`
/// - `machine`: `copy_bytes_per_second`, and `contraction_flops_per_second` by type
/// - `rows`, slowest first, with equal kernels combined: `kind` (kernel, contraction and other
///   library calls by name, copy), `name`, `implementation` of a call, `shape` of a contraction,
///   `nodes` of each call, `calls` per step, `seconds`, `share` of the step, `bytes` and `flops`
///   per step, `bytes_per_second`, `flops_per_second`, `share_of_copy`; for contractions also
///   `share_of_rate`, `alone_flops_per_second` and `share_of_alone`, which refer to the same shape
///   over dense tensors, measured in isolation
/// - `totals`: `contractions`, `other_calls` of libraries, `kernels`, `large_kernels` (kernels that
///   move more than 1 MB per call), `copies`, `load`, `between`: each has `seconds` and `share` of
///   the step, and, where applicable, `share_of_copy` (of the bytes moved in that time) or
///   `share_of_alone`
///
/// Values that cannot be measured are null.
nlohmann::ordered_json summarize(const MtcProgram &program, const Profile &profile, Device &device,
                                 int threads);

/// Returns the summary as a human-readable table.
std::string summaryTable(const nlohmann::ordered_json &summary);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H
