// Observers of a training run: progress, metrics and reports. A listener sees a run as a sequence
// of calls: begin, then steps and validations in the order of the run, then end.
#ifndef MTC_RUNTIME_REPORTS_RUN_LISTENER_H
#define MTC_RUNTIME_REPORTS_RUN_LISTENER_H

#include "runtime/support/confusion_matrix.h"
#include "runtime/support/failure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss;  ///< before the update; null in files if not finite
  double learningRate;
  std::optional<double> gradientNorm = {}; ///< norm of all gradients, before clipping
  std::optional<double> lossScale = {};    ///< if the program scales its loss
  bool skipped = false;                    ///< a gradient was not finite, so the update was skipped
  double seconds = 0;
};

/// The properties of a run that are known before its first step.
struct RunFacts {
  int64_t firstStep = 0;  ///< number of steps that are done already: the step of the checkpoint
  int64_t totalSteps = 0; ///< the last step of the run; 0: unknown
  int64_t samplesPerStep = 0;
  int64_t samplesPerEpoch = 0; ///< 0 if the data has no samples, so that there are no epochs
  std::optional<int64_t> tokensPerSample = {}; ///< if the model reads token ids
  std::string program = {};                    ///< name of the executable
  std::string model = {}, loss = {}, optimizer = {}, target = {};
  std::string schedule = {};   ///< kind of the learning rate schedule
  double peakRate = 0;         ///< of the schedule
  int64_t plannedBytes = 0;    ///< size of the device arena
  std::string bestMetric = {}; ///< the metric that chooses the best validation, if there is one
  std::vector<std::string> classes = {}; ///< names of the classes, if they are known

  /// Returns the epoch of a step, from 1; 0 if there are no epochs.
  int64_t epochOf(int64_t step) const {
    return samplesPerEpoch ? (step - 1) * samplesPerStep / samplesPerEpoch + 1 : 0;
  }
  /// Returns the throughput of a step; nullopt if its duration is not known.
  std::optional<double> samplesPerSecond(const StepMetrics &step) const {
    if (!(step.seconds > 0))
      return std::nullopt;
    return static_cast<double>(samplesPerStep) / step.seconds;
  }
  /// Returns nullopt also if the model reads no tokens.
  std::optional<double> tokensPerSecond(const StepMetrics &step) const {
    const std::optional<double> samples = samplesPerSecond(step);
    if (!samples || !tokensPerSample)
      return std::nullopt;
    return *samples * static_cast<double>(*tokensPerSample);
  }
};

/// An evaluation on validation data during a run.
struct ValidationMetrics {
  int64_t step = 0; ///< number of steps that were done before
  double loss = 0;
  std::vector<std::pair<std::string, double>> metrics = {}; ///< name and value: ("accuracy", 0.9)
  int64_t samples = 0;
  double seconds = 0;
  bool isBest = false;            ///< the best validation of the run so far
  ConfusionMatrix confusion = {}; ///< empty if the loss has no classes
};

enum class RunOutcome {
  Completed, ///< all steps are done
  Stopped,   ///< by a signal
  Failed     ///< diverged, or an error; see `message`
};

struct RunEnding {
  RunOutcome outcome = RunOutcome::Completed;
  int64_t step = 0; ///< the last step
  std::string message = {};
};

class RunListener {
public:
  virtual ~RunListener() = default;
  virtual void begin(const RunFacts &facts) {}
  virtual void step(const StepMetrics &metrics) {}
  virtual void validation(const ValidationMetrics &metrics) {}
  /// Called once at the end of each run that has begun, also if the run fails.
  virtual void end(const RunEnding &ending) {}
};

/// The listeners of a run. A listener that throws is not called again; its failure is added to
/// `problems`, and the others continue.
class RunListeners {
public:
  /// Adds a listener, which the object owns.
  void add(std::unique_ptr<RunListener> listener) {
    listeners.push_back({listener.get(), std::move(listener)});
  }
  /// Adds a listener that must outlive the object.
  void add(RunListener &listener) { listeners.push_back({&listener, nullptr}); }

  void begin(const RunFacts &facts, Problems &problems);
  void step(const StepMetrics &metrics, Problems &problems);
  void validation(const ValidationMetrics &metrics, Problems &problems);
  void end(const RunEnding &ending, Problems &problems);

private:
  struct Entry {
    RunListener *listener;
    std::unique_ptr<RunListener> owned;
    bool hasFailed = false;
  };
  template <typename Call> void notify(Problems &problems, const Call &call);

  std::vector<Entry> listeners;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_RUN_LISTENER_H
