// A message of a program to or from another pipeline stage.
#ifndef MTC_RUNTIME_COLLECTIVES_STAGEMESSAGE_H
#define MTC_RUNTIME_COLLECTIVES_STAGEMESSAGE_H

#include "runtime/abi/pipeline.h"
#include "runtime/collectives/ranks.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

/// A prepared message between this rank and one of another stage. Runs allocate no memory of their
/// own.
class StageMessage {
public:
  /// `arena` is the start of the device arena.
  StageMessage(const MtcMessage &message, char *arena, Ranks &ranks);

  void start();
  /// Advances the message without waiting.
  void progress() {
    if (running)
      exchange->poll();
  }
  /// Waits until the message has been sent or received, if it was started.
  void wait();
  bool isRunning() const { return running; }

private:
  Ranks &ranks;
  std::string what;
  std::unique_ptr<Exchange> exchange;
  int64_t sentBytes = 0; ///< 0 if the message is received
  bool running = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_COLLECTIVES_STAGEMESSAGE_H
