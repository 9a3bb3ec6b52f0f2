// The messages of TensorBoard's event files, in the encoding of protocol buffers.
#ifndef MTC_RUNTIME_REPORTS_EVENT_MESSAGE_H
#define MTC_RUNTIME_REPORTS_EVENT_MESSAGE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// A message `Event` of TensorFlow's event.proto and summary.proto. Functions append fields; the
/// field numbers are those of the two files. The encoding is that of
/// https://protobuf.dev/programming-guides/encoding.
class EventMessage {
public:
  /// Begins a message. `wallTime` is in seconds since 1970.
  void begin(double wallTime, int64_t step);
  /// Names the version of the format, in the first event of a file.
  void addFileVersion(std::string_view version);
  /// Marks the start of a run: readers discard earlier events of this step and of later ones.
  void addSessionStart();
  /// Adds a value to the event's summary.
  void addScalar(std::string_view tag, float value);

  /// Completes the message and returns its bytes, which are valid until the next `begin`.
  const std::string &finish();

private:
  std::string message, summary;
  std::string value; ///< buffer, reused for each scalar
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_EVENT_MESSAGE_H
