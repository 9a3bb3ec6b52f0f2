// --profile-summary: where a step's time goes, and how near each part comes to what the machine
// can.
#ifndef MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H
#define MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H

#include "runtime/devices/device.h"
#include "runtime/reports/profile.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mtc::runtime {

/// The device's throughput is measured now, in memory of its own that is given back; the run whose
/// profile this is should be over. Seconds are means of a step. Keys:
///
/// `steps`, `mean_step_seconds`, `step_seconds` of the fastest, which all else is about, `threads`;
/// `machine`: `copy_bytes_per_second`, and `contraction_flops_per_second` by type;
/// `rows`, the slowest first, equal kernels in one: `kind` (kernel, contraction and other library
///   calls by name, copy), `name`, `implementation` of a call, `shape` of a contraction, `nodes` of
///   each call, `calls` a step, `seconds`, `share` of the step, `bytes` and `flops` a step,
///   `bytes_per_second`, `flops_per_second`, `share_of_copy`, and of a contraction `share_of_rate`,
///   `alone_flops_per_second` and `share_of_alone`: of the library running the same shape over
///   plain tensors and nothing else;
/// `totals`: `contractions`, `other_calls` of libraries, `kernels`, `large_kernels` (those that
/// move more than 1 MB a call),
///   `copies`, `load`, `between`: `seconds` and `share` of the step each, with `share_of_copy` (of
///   the time's bytes) or `share_of_alone` where that makes sense.
///
/// What could not be measured is null.
nlohmann::ordered_json summarize(const MtcProgram &program, const Profile &profile, Device &device,
                                 int threads);

/// The same as a table for people.
std::string summaryTable(const nlohmann::ordered_json &summary);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROFILE_SUMMARY_H
