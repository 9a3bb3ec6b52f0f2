// The library of programs that are linked with none.
#include "runtime/devices/cpu/library_call.h"

namespace mtc::runtime {

const CallLibrary &linkedLibrary() { return builtInLibrary(); }

} // namespace mtc::runtime
