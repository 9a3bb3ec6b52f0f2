// Settings of a trainer.
#include "runtime/library/trainer.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

double Trainer::setting(const std::string &name) const {
  const MtcSetting &found = requireSetting(program, name);
  const auto changed = state.settings.find(name);
  return changed == state.settings.end() ? found.value : changed->second;
}

void Trainer::set(const std::string &name, double value) {
  checkUsable();
  if (const std::string problem = checkSetting(requireSetting(program, name), value);
      !problem.empty())
    userError("setting '", name, "': ", value, ": ", problem);
  state.settings[name] = value;
  onDevice([&] { writeSettings(program, *device, state.settings); });
}

/// Throws if the loaded checkpoint was trained with settings that the program does not have.
void Trainer::checkTrains() const {
  if (const std::string problem = checkSettings(program, state.settings); !problem.empty())
    userError(problem);
}

} // namespace mtc::runtime
