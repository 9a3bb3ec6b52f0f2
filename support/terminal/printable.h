// Text from files and command lines, for terminals.
#ifndef MTC_SUPPORT_TERMINAL_PRINTABLE_H
#define MTC_SUPPORT_TERMINAL_PRINTABLE_H

#include <string>
#include <string_view>

namespace mtc::terminal {

/// Returns the text in a form that a terminal shows but does not interpret: control characters
/// other than newlines, and bytes that are not UTF-8, become \xNN. Names come from files and may
/// contain any bytes.
std::string printable(std::string_view text);

} // namespace mtc::terminal

#endif // MTC_SUPPORT_TERMINAL_PRINTABLE_H
