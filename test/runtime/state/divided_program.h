// Programs whose variables are divided among ranks, and runs of their ranks on threads.
#ifndef MTC_TEST_RUNTIME_STATE_DIVIDEDPROGRAM_H
#define MTC_TEST_RUNTIME_STATE_DIVIDEDPROGRAM_H

#include "runtime/devices/cpu/cpu_device.h"
#include "runtime/state/division.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/element_type.h"
#include "test/runtime/collectives/thread_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace mtc::test {

/// The sample with variables that are sharded among ranks.
class DividedProgram {
public:
  DividedProgram() = default;
  DividedProgram(DividedProgram &&) = default; // A copy would refer to the values of the original.

  /// Adds a variable that is divided in flat pieces.
  void add(const char *name, uint32_t type, int64_t elements, int64_t piece, int64_t pieces = 3,
           int64_t stride = 1) {
    add(name, type, {elements, 1, 1, piece, pieces, stride, elements, elements});
  }
  /// Adds a variable with this division.
  void add(const char *name, uint32_t type, const runtime::Division &division) {
    auto &value = values.emplace_back();
    const int64_t size = runtime::typeBytes(type);
    value.elements = division.total;
    value.piece = division.piece;
    value.whole = {name, type, 1, &value.elements, 0, value.elements * size, MTC_DEVICE};
    MtcVariable variable{};
    variable.tensor = {name, type, 1, &value.piece, arena, value.piece * size, MTC_DEVICE};
    variable.role = MTC_PARAMETER;
    variable.of = -1;
    variable.whole = &value.whole;
    variable.run = division.run;
    variable.parts = division.parts;
    variable.stride = division.stride;
    variable.block = division.block;
    variable.piece = division.piece;
    variable.pieces = division.pieces;
    variable.piece_stride = division.pieceStride;
    arena += (value.piece * size + 63) / 64 * 64;
    variables.push_back(variable);
  }
  /// Moves the variables to the stages of a program with `ranks` ranks, in turn. The third of four
  /// variables is on every stage.
  void divideStages(int64_t ranks, int64_t stages) {
    rankCount = ranks;
    stageCount = stages;
    for (size_t i = 0; i < variables.size(); ++i)
      variables[i].stage = i % 4 == 2 ? -1 : static_cast<int32_t>(static_cast<int64_t>(i) % stages);
  }
  /// Lets each rank of its stage have a variable whole.
  void makeWhole(size_t variable) {
    MtcVariable &made = variables[variable];
    made.tensor = values[variable].whole;
    made.tensor.offset = arena;
    made.whole = nullptr;
    arena += (made.tensor.bytes + 63) / 64 * 64;
  }
  MtcProgram program() const {
    MtcProgram result = mtc_program;
    result.ranks = rankCount;
    result.stages = stageCount;
    result.variables = variables.data();
    result.variable_count = static_cast<uint32_t>(variables.size());
    result.arena_bytes = arena;
    return result;
  }
  const MtcTensor &whole(uint32_t variable) const { return values[variable].whole; }

private:
  struct Value {
    int64_t elements, piece;
    MtcTensor whole;
  };
  std::deque<Value> values;
  std::vector<MtcVariable> variables;
  int64_t arena = 0, rankCount = 1, stageCount = 1;
};

/// Returns the whole value of a variable.
inline std::string valueOf(const MtcTensor &tensor) {
  std::string value(static_cast<size_t>(tensor.bytes), '\0');
  for (size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<char>(i * 37 + i / 255 + tensor.name[0]);
  if (tensor.type == MTC_F32)
    for (size_t i = 3; i < value.size(); i += 4)
      value[i] = 0x3f;
  return value;
}

/// Runs `action` on all ranks of a program with devices whose memory is zeroed.
inline void onDevices(int count, const DividedProgram &divided,
                      const std::function<void(const MtcProgram &, runtime::Device &)> &action) {
  const MtcProgram program = divided.program();
  const auto results = runRanks(count, [&](runtime::Ranks &ranks) {
    if (program.stages > 1)
      ranks.setStages(program.stages, 0);
    ranks.preparePieces();
    runtime::CpuDevice device(program, {"", 1, program.arena_bytes, "", nullptr, &ranks});
    action(program, device);
  });
  EXPECT_THAT(results, testing::Each(testing::Field(&RankResult::error, "")));
}

/// Writes and compares elements of variables of a rank.
struct RankValues {
  const MtcProgram &program;
  runtime::Device &device;

  void write(uint32_t variable, const std::string &from) const {
    runtime::StoredVariable(program, variable)
        .write(device, [&](char *to, int64_t at, int64_t bytes) {
          std::memcpy(to, from.data() + at, static_cast<size_t>(bytes));
        });
  }
  void expect(uint32_t variable, const std::string &expected) const {
    int64_t compared = 0;
    runtime::StoredVariable(program, variable)
        .readOwn(device, [&](const char *from, int64_t at, int64_t bytes) {
          EXPECT_EQ(std::memcmp(from, expected.data() + at, static_cast<size_t>(bytes)), 0)
              << "of rank " << device.ranks()->rank();
          compared += bytes;
        });
    EXPECT_GT(compared, 0);
  }
};

} // namespace mtc::test

#endif // MTC_TEST_RUNTIME_STATE_DIVIDEDPROGRAM_H
