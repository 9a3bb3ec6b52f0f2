// Messages on standard error.
#ifndef MTC_RUNTIME_SUPPORT_MESSAGES_H
#define MTC_RUNTIME_SUPPORT_MESSAGES_H

#include "runtime/support/failure.h"

#include <string>

namespace mtc::runtime {

/// Returns the text in a form that a terminal shows but does not interpret: control characters
/// other than newlines, and bytes that are not UTF-8, become \xNN. Names come from files and may
/// contain any bytes.
std::string printable(const std::string &text);

/// Writes a line to standard error, after `printable`.
void writeMessage(const std::string &line);

template <typename... Parts> void warn(const Parts &...parts) {
  writeMessage(text("warning: ", parts...));
}
template <typename... Parts> void note(const Parts &...parts) {
  writeMessage(text("note: ", parts...));
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_MESSAGES_H
