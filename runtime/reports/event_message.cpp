#include "runtime/reports/event_message.h"

#include "runtime/io/protobuf.h"

namespace mtc::runtime {

using namespace protobuf;

void EventMessage::begin(double wallTime, int64_t step) {
  message.clear();
  summary.clear();
  appendFixed(message, /*wall_time*/ 1, wallTime);
  if (step) // 0 is the default value of the field.
    appendInteger(message, /*step*/ 2, static_cast<uint64_t>(step));
}

void EventMessage::addFileVersion(std::string_view version) {
  appendBytes(message, /*file_version*/ 3, version);
}

void EventMessage::addSessionStart() {
  constexpr std::string_view start = "\x08\x01"; // field `status` with START
  appendBytes(message, /*session_log*/ 7, start);
}

void EventMessage::addScalar(std::string_view tag, float number) {
  value.clear();
  appendBytes(value, /*tag*/ 1, tag);
  appendFixed(value, /*simple_value*/ 2, number);
  appendBytes(summary, /*value*/ 1, value);
}

const std::string &EventMessage::finish() {
  if (!summary.empty())
    appendBytes(message, /*summary*/ 5, summary);
  return message;
}

} // namespace mtc::runtime
