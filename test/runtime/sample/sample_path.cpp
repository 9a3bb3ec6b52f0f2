// Defines the file name of the sample for the target.
#include "test/runtime/support.h"

namespace mtc::test {

const char *const sampleName = MTC_SAMPLE;

} // namespace mtc::test
