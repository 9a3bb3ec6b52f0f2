// Messages on standard error, or to a sink.
#ifndef MTC_RUNTIME_SUPPORT_MESSAGES_H
#define MTC_RUNTIME_SUPPORT_MESSAGES_H

#include "runtime/support/failure.h"
#include "support/terminal/printable.h"

#include <functional>
#include <string>

namespace mtc::runtime {

using terminal::printable;

/// Writes a line to standard error, after `printable`, or passes it to the thread's sink.
void writeMessage(const std::string &line);

/// Writes a line to standard error, after `printable`, even if the thread has a sink.
void writeToStandardError(const std::string &line);

/// Receives the messages of the calling thread during the lifetime of the object, because a library
/// must not write to the standard error of its process.
class MessageSink {
public:
  using Write = std::function<void(const std::string &line)>;

  explicit MessageSink(Write write);
  ~MessageSink();
  MessageSink(const MessageSink &) = delete;
  MessageSink &operator=(const MessageSink &) = delete;

private:
  friend void writeMessage(const std::string &line);
  Write write;
  MessageSink *outer;
};

template <typename... Parts> void warn(const Parts &...parts) {
  writeMessage(text("warning: ", parts...));
}
template <typename... Parts> void note(const Parts &...parts) {
  writeMessage(text("note: ", parts...));
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_MESSAGES_H
