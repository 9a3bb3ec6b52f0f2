// Classes in the report of a run.
#ifndef MTC_RUNTIME_REPORTS_CLASS_SECTION_H
#define MTC_RUNTIME_REPORTS_CLASS_SECTION_H

#include "runtime/reports/run_record.h"

#include <string>

namespace mtc::runtime {

/// Returns a section with the confusion matrix of the best validation, or of the last one, as a
/// picture and with precision, recall and F1 of each class; "" if there is no matrix.
std::string classesSection(const RunRecord &record);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_CLASS_SECTION_H
