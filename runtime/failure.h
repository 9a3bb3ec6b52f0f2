// How the runtime reports what went wrong: one exception type, caught in one place.
#ifndef MTC_RUNTIME_FAILURE_H
#define MTC_RUNTIME_FAILURE_H

#include <exception>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

enum ExitCode { exitDone = 0, exitUserInput = 1, exitSystemFault = 2 };

/// Ends the run with a message that names the file, the flag or the node, what was found and what
/// was expected.
class Failure : public std::exception {
public:
  Failure(ExitCode code, std::string message) : code(code), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }
  ExitCode exitCode() const { return code; }

private:
  ExitCode code;
  std::string message;
};

/// The parts written one after the other.
template <typename... Parts> std::string text(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

template <typename... Parts> [[noreturn]] void userError(const Parts &...parts) {
  throw Failure(exitUserInput, text(parts...));
}

template <typename... Parts> [[noreturn]] void systemError(const Parts &...parts) {
  throw Failure(exitSystemFault, text(parts...));
}

/// Mistakes of the user that are reported all at once.
class Problems {
public:
  template <typename... Parts> void add(const Parts &...parts) { list.push_back(text(parts...)); }
  bool any() const { return !list.empty(); }

  /// Runs `action`; a mistake of the user that it throws is added to the list.
  template <typename Action> void collect(const Action &action) {
    try {
      action();
    } catch (const Failure &failure) {
      if (failure.exitCode() != exitUserInput)
        throw;
      list.emplace_back(failure.what());
    }
  }

  /// Throws what was collected, if anything.
  void throwIfAny() const {
    if (list.empty())
      return;
    std::string all;
    for (const std::string &problem : list)
      all += (all.empty() ? "" : "\nerror: ") + problem;
    throw Failure(exitUserInput, all);
  }

private:
  std::vector<std::string> list;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_FAILURE_H
