// The history of validations of a training run.
#ifndef MTC_RUNTIME_STATE_VALIDATION_STATE_H
#define MTC_RUNTIME_STATE_VALIDATION_STATE_H

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

struct ValidationState {
  int64_t step = 0;           ///< step of the last validation; 0: none
  std::string metric;         ///< the metric that determines the best validation; "" before one
  std::optional<double> best; ///< its best value; nullopt if no value was a number
  int64_t bestStep = 0;       ///< step of that value
  int64_t sinceBest = 0;      ///< validations since then, all without an improvement

  bool operator==(const ValidationState &) const = default;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VALIDATION_STATE_H
