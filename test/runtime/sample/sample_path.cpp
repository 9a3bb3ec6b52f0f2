// The file name of the target's sample.
#include "test/runtime/support.h"

namespace mtc::test {

const char *const sampleName = MTC_SAMPLE;

} // namespace mtc::test
