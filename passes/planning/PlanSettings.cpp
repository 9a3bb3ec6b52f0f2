//===- PlanSettings.cpp - Settings that decide how a program uses memory ----------------------===//

#include "passes/planning/PlanSettings.h"

using namespace mtc;

MemoryOptions PlanSettings::getMemoryOptions() const {
  return {
      {tile, recompute, offload, memory.value_or(0), minimizeIfMissed, maxSeconds, searchSeconds},
      allocate,
      passes};
}
