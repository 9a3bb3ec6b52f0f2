// Runs a program that only reads its data.
#ifndef MTC_TEST_FUZZ_DATA_RUN_H
#define MTC_TEST_FUZZ_DATA_RUN_H

#include "runtime/abi/program.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mtc::fuzz {

/// Runs the sample of the runtime's tests, without its operations and with its input x ([4, 3]) of
/// this type, on the arguments. Aborts unless it exits like a run with valid or invalid user input.
void runSample(MtcType type, const std::vector<std::string> &arguments);

/// Runs --evaluate with the bytes as the data of x, in a file with this extension.
void evaluateOn(MtcType type, const char *ending, const uint8_t *data, size_t size);

} // namespace mtc::fuzz

#endif // MTC_TEST_FUZZ_DATA_RUN_H
