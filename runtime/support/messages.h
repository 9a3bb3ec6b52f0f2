// Messages on standard error.
#ifndef MTC_RUNTIME_SUPPORT_MESSAGES_H
#define MTC_RUNTIME_SUPPORT_MESSAGES_H

#include "runtime/support/failure.h"

#include <string>

namespace mtc::runtime {

/// A text whose bytes a terminal shows and does not act on: control characters, other than ends of
/// lines, and bytes that are no UTF-8 become \xNN. Names come from files, and may be any bytes.
std::string printable(const std::string &text);

/// Writes a line to standard error, made printable.
void writeMessage(const std::string &line);

template <typename... Parts> void warn(const Parts &...parts) {
  writeMessage(text("warning: ", parts...));
}
template <typename... Parts> void note(const Parts &...parts) {
  writeMessage(text("note: ", parts...));
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_MESSAGES_H
