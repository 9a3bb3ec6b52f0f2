// Trace events as JSON.
#include "runtime/reports/trace.h"

#include "runtime/abi/file_marks.h"
#include "runtime/support/failure.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

namespace mtc::runtime {

static std::string quoted(const std::string &value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Trace::Trace(std::string path) : path(std::move(path)), file(this->path) {
  if (!file)
    userError("--profile ", this->path, ": cannot be written: ", std::strerror(errno));
  file << "[\n{\"" MTC_WRITER_KEY "\":\"" MTC_WRITER
          "\",\"name\":\"process_name\",\"cat\":\"__metadata\","
          "\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"training program\"}}";
}

Trace::~Trace() {
  if (!finished)
    file << "\n]\n";
}

void Trace::write(const std::string &name, const char *category, int lane,
                  const std::string &arguments, Clock::time_point begin, Clock::time_point end) {
  auto microseconds = [](Clock::duration d) {
    return std::chrono::duration<double, std::micro>(d).count();
  };
  file << ",\n"
       << std::fixed << "{\"name\":" << quoted(name) << ",\"cat\":\"" << category
       << "\",\"ph\":\"X\",\"pid\":1,\"tid\":" << lane << ",\"ts\":" << microseconds(begin - start)
       << ",\"dur\":" << microseconds(end - begin) << ",\"args\":{" << arguments << "}}";
  noteError();
}

void Trace::noteError() {
  if (!file && !firstError)
    firstError = errno ? errno : EIO;
}

void Trace::operation(const OperationInfo &operation, Clock::time_point begin,
                      Clock::time_point end) {
  const char *nodes = operation.source->nodes;
  write(nodes && *nodes ? nodes : operation.label, "operation", 2,
        text("\"kernel\":", quoted(operation.label), ",\"flops\":", operation.flops,
             ",\"bytes\":", operation.bytes),
        begin, end);
}

static std::string phaseName(Phase phase, int64_t step) {
  switch (phase) {
  case Phase::Load:
    return "load";
  case Phase::MicroStep:
    return text("micro-step ", step);
  case Phase::Wait:
    return "wait for a message";
  case Phase::Update:
    return text("update ", step);
  case Phase::Evaluate:
    return text("evaluate ", step);
  case Phase::LoadValidation:
    return "load validation";
  case Phase::Validate:
    return text("validate ", step);
  case Phase::Save:
    return "save";
  }
  return "";
}

void Trace::phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) {
  write(phaseName(phase, step), "phase", 1, "", begin, end);
}

void Trace::finish() {
  finished = true;
  file << "\n]\n";
  file.flush();
  noteError();
  if (firstError)
    systemError("--profile ", path, ": cannot be written: ", std::strerror(firstError));
}

} // namespace mtc::runtime
