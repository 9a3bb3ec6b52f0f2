// The support level of oneDNN's matrix multiplications on this processor.
#ifndef MTC_TEST_SUPPORT_LIBRARY_LEVEL_H
#define MTC_TEST_SUPPORT_LIBRARY_LEVEL_H

#include "runtime/abi/library_call.h"

#include <dnnl.h>

namespace mtc::test {

/// The best support level of an f32 matrix multiplication: below AVX-512 the library packs operands
/// in its own memory.
inline MtcSupportLevel bestLevelOfProducts() {
  return dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core ? MTC_CALL_FAST
                                                                  : MTC_CALL_ALLOCATES;
}

} // namespace mtc::test

#endif // MTC_TEST_SUPPORT_LIBRARY_LEVEL_H
