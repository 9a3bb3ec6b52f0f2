// The HTML of a run's report.
#ifndef MTC_RUNTIME_REPORTS_REPORT_PAGE_H
#define MTC_RUNTIME_REPORTS_REPORT_PAGE_H

#include "runtime/abi/program.h"
#include "runtime/reports/run_record.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// The text that precedes the record, which is JSON, in the page.
inline constexpr std::string_view pageDataStart = "<script type=\"application/json\" id=\"data\">";

/// Returns a page without references to other files. All numbers are in its tables; its script
/// draws charts of them. While the run goes on, browsers reload the page every `reloadSeconds`.
std::string reportPage(const MtcProgram &program, const RunRecord &record, int64_t reloadSeconds);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_REPORT_PAGE_H
