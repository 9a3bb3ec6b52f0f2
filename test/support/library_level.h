// What oneDNN's products reach on this processor.
#ifndef MTC_TEST_SUPPORT_LIBRARY_LEVEL_H
#define MTC_TEST_SUPPORT_LIBRARY_LEVEL_H

#include "runtime/abi/library_call.h"

#include <dnnl.h>

namespace mtc::test {

/// The best support level of a product of f32: below AVX-512 the library packs operands in memory
/// of its own.
inline MtcSupportLevel bestLevelOfProducts() {
  return dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core ? MTC_CALL_FAST
                                                                  : MTC_CALL_ALLOCATES;
}

} // namespace mtc::test

#endif // MTC_TEST_SUPPORT_LIBRARY_LEVEL_H
