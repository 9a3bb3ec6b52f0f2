// Error reporting of the runtime: one exception type, which `runProgram` catches.
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

/// A run that a signal stopped exits with `exitSignal` plus the signal number, as in shells.
enum ExitCode { exitDone = 0, exitUserInput = 1, exitSystemFault = 2, exitSignal = 128 };

/// An error that ends the run. The message names the file, flag or node, the actual and the
/// expected value.
class Failure : public std::exception {
public:
  Failure(int code, std::string message) : code(code), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }
  int exitCode() const { return code; }

private:
  int code;
  std::string message;
};

/// Returns whether an errno of a write is a system error, rather than an invalid path.
inline bool isFaultOfMachine(int error) {
  return error == ENOSPC || error == EDQUOT || error == EIO || error == ENOMEM || error == EMFILE;
}

/// Returns the concatenation of the parts.
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

/// Collects several errors in order to report all of them at once.
class Problems {
public:
  template <typename... Parts> void add(const Parts &...parts) { list.push_back(text(parts...)); }
  bool any() const { return !list.empty(); }
  const std::vector<std::string> &get() const { return list; }

  /// Runs `action`; adds a user error that it throws to the list.
  template <typename Action> void collect(const Action &action) {
    try {
      action();
    } catch (const Failure &failure) {
      if (failure.exitCode() != exitUserInput)
        throw;
      list.emplace_back(failure.what());
    }
  }

  /// Runs `action`; adds any Failure that it throws to the list, so that later actions still run.
  template <typename Action> void attempt(const Action &action) {
    try {
      action();
    } catch (const Failure &failure) {
      code = std::max(code, failure.exitCode());
      list.emplace_back(failure.what());
    }
  }

  /// Returns the collected errors as one message; "" if there are none.
  std::string message() const {
    std::string all;
    for (const std::string &problem : list)
      all += (all.empty() ? "" : "\nerror: ") + problem;
    return all;
  }

  /// Throws the collected errors, if there are any, with the highest exit code.
  void throwIfAny() const {
    if (!list.empty())
      throw Failure(code, message());
  }

private:
  std::vector<std::string> list;
  int code = exitUserInput;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_FAILURE_H
