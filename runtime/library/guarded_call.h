// Calls of the C interface, whose exceptions become a status and a message.
#ifndef MTC_RUNTIME_LIBRARY_GUARDED_CALL_H
#define MTC_RUNTIME_LIBRARY_GUARDED_CALL_H

#include "runtime/library/blocked_signals.h"
#include "runtime/library/mtc_model.h"
#include "runtime/library/trainer.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <atomic>
#include <exception>
#include <new>
#include <optional>
#include <string>

struct mtc_model_trainer {
  std::optional<mtc::runtime::Trainer> trainer; ///< nullopt if it could not be created
  std::string message;
  std::atomic<bool> isInUse = false;
  void (*warn)(void *data, const char *message) = nullptr;
  void *warnData = nullptr;
};

namespace mtc::runtime {

/// Runs `action` and converts its exceptions to a status and a message.
template <typename Action>
mtc_model_status guard(mtc_model_trainer *self, const Action &action) noexcept {
  if (!self)
    return MTC_MODEL_INVALID;
  if (self->isInUse.exchange(true)) // The message belongs to the other call.
    return MTC_MODEL_INVALID;
  mtc_model_status status = MTC_MODEL_OK;
  try {
    const BlockedSignals blocked;
    const MessageSink sink([&](const std::string &line) {
      if (self->warn)
        self->warn(self->warnData, line.c_str());
    });
    self->message.clear();
    action();
  } catch (const Failure &failure) {
    status = failure.exitCode() == exitUserInput ? MTC_MODEL_INVALID : MTC_MODEL_FAULT;
    self->message = printable(failure.what());
  } catch (const std::bad_alloc &) {
    status = MTC_MODEL_FAULT;
    self->message = "out of memory"; // short enough for the string's own storage
  } catch (const std::exception &error) {
    status = MTC_MODEL_FAULT;
    self->message = error.what();
  }
  self->isInUse = false;
  return status;
}

/// Calls `action` with the trainer.
template <typename Action>
mtc_model_status guardTrainer(mtc_model_trainer *self, const Action &action) noexcept {
  return guard(self, [&] {
    if (!self->trainer)
      userError("the trainer was not created");
    action(*self->trainer);
  });
}

template <typename Value> Value *require(Value *pointer, const char *name) {
  if (!pointer)
    userError(name, " is null");
  return pointer;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LIBRARY_GUARDED_CALL_H
