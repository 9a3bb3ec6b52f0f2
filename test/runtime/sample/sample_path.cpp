// Where the executable of the target's sample lies.
#include "test/runtime/support.h"

namespace mtc::test {

const char *const samplePath = MTC_SAMPLE;

} // namespace mtc::test
