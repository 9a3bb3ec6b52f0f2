// Detects the features of the processor. Like all code of the runtime, this file is compiled for
// the baseline of the architecture.
#include "runtime/devices/cpu/processor.h"

#include "runtime/abi/processor.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace mtc::runtime {
namespace {

struct Feature {
  std::string name, label;
  int level; ///< of x86-64; 0: no level has the feature
  bool isPresent;
};

#if defined(__x86_64__)

constexpr const char *baseline = "x86-64";

/// Returns whether the operating system saves the register state (`state` of MTC_X86_FEATURES).
bool savesState(int state) {
  if (state == 0)
    return true;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
    return false;
  uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t ofAvx = 0x06, ofAvx512 = 0xe6; // XMM and YMM; opmask and ZMM, too
  const uint32_t needed = state == 1 ? ofAvx : ofAvx512;
  return (low & needed) == needed;
}

bool detect(uint32_t leaf, uint32_t subleaf, char reg, int bit, int state) {
  uint32_t registers[4] = {};
  if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
    return false;
  if (leaf == 7 && subleaf > 0) { // EAX of subleaf 0 is the last subleaf.
    uint32_t last = 0, unused = 0;
    __get_cpuid_count(leaf, 0, &last, &unused, &unused, &unused);
    if (subleaf > last)
      return false;
  }
  return (registers[reg - 'a'] >> bit & 1) && savesState(state);
}

std::vector<Feature> detectFeatures() {
#define FEATURE(name, label, level, leaf, subleaf, reg, bit, state)                                \
  {name, label, level, detect(leaf, subleaf, reg, bit, state)},
  return {MTC_X86_FEATURES(FEATURE)};
#undef FEATURE
}

#elif defined(__aarch64__)

constexpr const char *baseline = "aarch64";

std::vector<Feature> detectFeatures() {
  auto detect = [](int word, int bit) {
    return (getauxval(word == 1 ? AT_HWCAP : AT_HWCAP2) >> bit & 1) != 0;
  };
#define FEATURE(name, label, word, bit) {name, label, 0, detect(word, bit)},
  return {MTC_AARCH64_FEATURES(FEATURE)};
#undef FEATURE
}

#else
#error "unknown processor architecture: add its features to runtime/abi/processor.h"
#endif

const std::vector<Feature> &features() {
  static const std::vector<Feature> all = detectFeatures();
  return all;
}

/// Returns `a, b and c`.
std::string enumerate(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Returns the name of the highest level of the architecture whose features the processor has.
std::string levelOf(const std::function<bool(const std::string &)> &has) {
  constexpr int highest = 4;
  int level = 1;
  auto reaches = [&](int next) {
    return std::all_of(features().begin(), features().end(),
                       [&](const Feature &each) { return each.level != next || has(each.name); });
  };
  const bool hasLevels = std::any_of(features().begin(), features().end(),
                                     [](const Feature &each) { return each.level > 0; });
  while (hasLevels && level < highest && reaches(level + 1))
    ++level;
  return level == 1 ? baseline : text(baseline, "-v", level);
}

} // namespace

bool processorHas(const std::string &feature) {
  return std::any_of(features().begin(), features().end(),
                     [&](const Feature &each) { return each.name == feature && each.isPresent; });
}

std::string refuseProcessor(const std::string &processor, const std::string &required,
                            const std::function<bool(const std::string &)> &has) {
  std::vector<std::string> missing;
  std::istringstream names(required);
  for (std::string name; std::getline(names, name, ',');) {
    if (has(name))
      continue;
    auto known = std::find_if(features().begin(), features().end(),
                              [&](const Feature &each) { return each.name == name; });
    missing.push_back(known == features().end() ? name : known->label);
  }
  if (missing.empty())
    return "";
  return text("the program uses ", enumerate(missing), ", which this processor lacks; it was ",
              processor == "host" ? "compiled for the processor of another machine"
                                  : text("compiled with --cpu ", processor),
              ". Compile it with --cpu ", levelOf(has));
}

void checkProcessor(const MtcCpuProgram &program) {
  if (const std::string reason = refuseProcessor(program.processor, program.features, processorHas);
      !reason.empty())
    systemError(reason);
}

} // namespace mtc::runtime
