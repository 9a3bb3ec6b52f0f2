// How the runtime reports what went wrong: one exception type, caught in one place.
#ifndef MTC_RUNTIME_SUPPORT_FAILURE_H
#define MTC_RUNTIME_SUPPORT_FAILURE_H

#include <algorithm>
#include <cerrno>
#include <exception>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// A run that a signal stopped ends with `exitSignal` and the signal's number, as shells count.
enum ExitCode { exitDone = 0, exitUserInput = 1, exitSystemFault = 2, exitSignal = 128 };

/// Ends the run with a message that names the file, the flag or the node, what was found and what
/// was expected.
class Failure : public std::exception {
public:
  Failure(int code, std::string message) : code(code), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }
  int exitCode() const { return code; }

private:
  int code;
  std::string message;
};

/// Whether an error of a call that writes is a fault of the machine, and no mistake in a path.
inline bool isFaultOfMachine(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM || error == EMFILE;
}

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

/// What went wrong in several places, reported all at once.
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

  /// Runs `action`; what it throws is added to the list, whatever its kind, so that the next action
  /// runs all the same.
  template <typename Action> void attempt(const Action &action) {
    try {
      action();
    } catch (const Failure &failure) {
      code = std::max(code, failure.exitCode());
      list.emplace_back(failure.what());
    }
  }

  /// Throws what was collected, if anything, with the highest exit code.
  void throwIfAny() const {
    if (list.empty())
      return;
    std::string all;
    for (const std::string &problem : list)
      all += (all.empty() ? "" : "\nerror: ") + problem;
    throw Failure(code, all);
  }

private:
  std::vector<std::string> list;
  int code = exitUserInput;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_FAILURE_H
