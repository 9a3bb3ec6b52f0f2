// Tests the errors of the target `cpu`.
#include "runtime/abi/library_call.h"
#include "test/runtime/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mtc::test;
using testing::HasSubstr;

namespace {

class CpuDevice : public testing::Test {
protected:
  TemporaryFolder folder;

  void SetUp() override { writeSampleData(folder, 10); }

  RunResult run(const MtcProgram &program) { return runHere(program, withData(folder, {})); }
};

TEST_F(CpuDevice, TooMuchMemoryIsAFaultOfTheSystem) {
  MtcProgram program = mtc_program;
  program.arena_bytes = int64_t{1} << 50;
  RunResult result = run(program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("1125899906842624 bytes"));
  EXPECT_THAT(result.error, HasSubstr("available"));
}

TEST_F(CpuDevice, TooLittleScratchIsRefused) {
  MtcProgram program = mtc_program;
  std::vector<MtcCall> calls(program.calls, program.calls + program.call_count);
  if (mtc_call_scratch_bytes(MTC_ONEDNN, calls[0].kind, calls[0].description, 1) == 0)
    GTEST_SKIP() << "the library needs no scratch for it on this processor";
  calls[0].scratch_bytes = 0;
  program.calls = calls.data();
  RunResult result = run(program);
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.error, HasSubstr("bytes of scratch"));
}

} // namespace
