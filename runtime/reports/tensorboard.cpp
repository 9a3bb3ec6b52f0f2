// Event files are TFRecord files. Their framing is defined by
// tensorflow/core/lib/io/record_writer.cc, their names by tensorflow/core/util/events_writer.cc.
#include "runtime/reports/tensorboard.h"

#include "runtime/io/crc32c.h"
#include "runtime/reports/metric_fields.h"
#include "runtime/reports/wall_clock.h"
#include "runtime/support/failure.h"

#include <array>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {
namespace {

std::string hostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || !name[0])
    return "localhost";
  return name.data();
}

/// Appends an integer in little-endian order.
template <typename Integer> void appendInteger(std::string &record, Integer value) {
  static_assert(std::endian::native == std::endian::little);
  record.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Appends a checksum, masked because records may contain checksums of other records.
void appendChecksum(std::string &record, std::string_view bytes) {
  appendInteger(record, std::rotr(crc32c(bytes), 15) + 0xa282ead8);
}

} // namespace

TensorBoard::TensorBoard(std::string folder) : folder(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(this->folder, error);
  if (error)
    userError("--tensorboard ", this->folder, ": cannot be created: ", error.message());
}

/// Creates a file with a new name. Readers sort the files of a folder by name, so the name of a
/// second run in the same second extends that of the first.
void TensorBoard::openFile() {
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%010lld",
                static_cast<long long>(secondsSince1970()));
  const std::string path = folder + "/events.out.tfevents." + seconds.data() + "." + hostName();
  for (int number = 0; !file; ++number)
    try {
      file = std::make_unique<AppendedFile>(number ? text(path, ".", number) : path,
                                            "--tensorboard " + folder,
                                            AppendedFile::Existing::Refused);
    } catch (AppendedFile::FileExists) {
      continue;
    }
}

void TensorBoard::begin(const RunFacts &given) {
  facts = given;
  openFile();
  begin(0);
  event.addFileVersion("brain.Event:2");
  write();
  begin(facts.firstStep ? facts.firstStep + 1 : 0);
  event.addSessionStart();
  write();
}

void TensorBoard::step(const StepMetrics &metrics) {
  begin(metrics.step);
  forEachField(metrics, facts, [&](const char *name, double value) {
    event.addScalar(text("train/", name), static_cast<float>(value));
  });
  write();
}

void TensorBoard::validation(const ValidationMetrics &metrics) {
  begin(metrics.step);
  forEachField(metrics, [&](const std::string &name, auto value) {
    event.addScalar(text("validation/", name), static_cast<float>(value));
  });
  write();
}

void TensorBoard::begin(int64_t step) { event.begin(secondsSince1970(), step); }

void TensorBoard::write() {
  const std::string &message = event.finish();
  record.clear();
  appendInteger(record, uint64_t{message.size()});
  appendChecksum(record, std::string(record));
  record += message;
  appendChecksum(record, message);
  file->append(record);
}

} // namespace mtc::runtime
