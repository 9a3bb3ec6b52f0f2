// The exported model alternates bytes of the program with bytes of variables. If it would exceed 2
// GiB, the data of variables is in a second file.
#include "runtime/state/export_model.h"

#include "runtime/io/durable_file.h"
#include "runtime/io/protobuf.h"
#include "runtime/state/exported_tensor.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/transfer_progress.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <array>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// Numbers of the fields of onnx.proto, and a value.
enum Field : uint64_t {
  modelGraph = 7,
  graphInitializer = 5,
  tensorExternalData = 13,
  tensorDataLocation = 14,
  entryKey = 1,
  entryValue = 2
};
constexpr uint64_t externalLocation = 1;

/// Offsets of data are multiples of the size of pages, so that readers can map them.
constexpr int64_t dataAlignment = 4096;

/// The name of the file of data of a model. Two names alternate, so that the data of the previous
/// export stays intact until its model is replaced.
std::string dataNameOf(const std::string &model, bool isAlternate) {
  return model + (isAlternate ? ".1.data" : ".data");
}

bool isPresent(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

/// The files of one export.
class ModelExport {
public:
  ModelExport(const MtcProgram &program, MtcExportForm form, const std::string &path)
      : program(program), file(path), replaces(isPresent(file->path())) {
    for (uint32_t i = 0; i < program.segment_count; ++i)
      if (const uint32_t of = program.segments[i].form;
          of == MTC_EVERY_FORM || of == static_cast<uint32_t>(form))
        segments.push_back(&program.segments[i]);
  }

  void write(ExportedValues &values, bool isQuiet) {
    describeExternal();
    TransferProgress progress("writing the model", totalBytes(), isQuiet);
    auto append = [&](std::optional<DurableFile> &to, int64_t at) {
      return [&to, &progress, at](int64_t offset, const char *from, int64_t bytes) {
        to->write(at + offset, from, bytes);
        progress.add(bytes);
      };
    };
    for (size_t i = 0; i < segments.size(); ++i) {
      const MtcExportSegment &segment = *segments[i];
      if (segment.kind == MTC_EXTERNAL_SEGMENT) {
        put(records[i]);
        writeValue(values, segment, append(data, offsets[i]));
        continue;
      }
      put({static_cast<const char *>(segment.bytes), static_cast<size_t>(segment.byte_count)});
      if (segment.kind == MTC_GRAPH_SEGMENT) {
        std::string start;
        protobuf::appendStart(start, modelGraph, static_cast<uint64_t>(bytesAfter(i)));
        put(start);
      } else if (segment.variable >= 0) {
        writeValue(values, segment, append(file, end));
        end += bytesOf(segment);
      }
    }
    commit();
  }

private:
  void put(std::string_view bytes) {
    file->write(end, bytes.data(), static_cast<int64_t>(bytes.size()));
    end += static_cast<int64_t>(bytes.size());
  }

  /// Returns the variable's value in the form of the file.
  ExportedTensor tensorOf(const MtcExportSegment &segment) const {
    const auto variable = static_cast<uint32_t>(segment.variable);
    const MtcTensor value = valueOf(program, variable);
    return {value.name,
            segment.type,
            segment.image ? shapeOf(*segment.image) : shapeOf(value),
            {{variable, segment.image}}};
  }
  int64_t bytesOf(const MtcExportSegment &segment) const {
    return segment.variable < 0 ? 0 : tensorOf(segment).bytes();
  }
  void writeValue(ExportedValues &values, const MtcExportSegment &segment,
                  const WriteBytes &write) const {
    writeTensor(program, values, tensorOf(segment), /*batches=*/0, write);
  }

  /// Assigns offsets in the file of data, and describes the tensors there.
  void describeExternal() {
    records.resize(segments.size());
    offsets.resize(segments.size());
    int64_t at = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      const MtcExportSegment &segment = *segments[i];
      if (segment.kind != MTC_EXTERNAL_SEGMENT)
        continue;
      if (!data) {
        const std::string first = dataNameOf(file->path(), false);
        data.emplace(dataNameOf(file->path(), isPresent(first)));
      }
      at = (at + dataAlignment - 1) / dataAlignment * dataAlignment;
      offsets[i] = at;
      const int64_t bytes = bytesOf(segment);
      std::string tensor(static_cast<const char *>(segment.bytes),
                         static_cast<size_t>(segment.byte_count));
      const std::array<std::pair<const char *, std::string>, 3> entries = {
          {{"location", fileNameOf(data->path())},
           {"offset", std::to_string(at)},
           {"length", std::to_string(bytes)}}};
      for (const auto &[key, value] : entries) {
        std::string entry;
        protobuf::appendBytes(entry, entryKey, key);
        protobuf::appendBytes(entry, entryValue, value);
        protobuf::appendBytes(tensor, tensorExternalData, entry);
      }
      protobuf::appendInteger(tensor, tensorDataLocation, externalLocation);
      protobuf::appendBytes(records[i], graphInitializer, tensor);
      at += bytes;
    }
  }

  /// Returns the size of the segments after one in the model's file.
  int64_t bytesAfter(size_t index) const {
    int64_t bytes = 0;
    for (size_t i = index + 1; i < segments.size(); ++i)
      bytes += segments[i]->kind == MTC_EXTERNAL_SEGMENT
                   ? static_cast<int64_t>(records[i].size())
                   : segments[i]->byte_count + bytesOf(*segments[i]);
    return bytes;
  }
  int64_t totalBytes() const {
    int64_t bytes = 0;
    for (const MtcExportSegment *segment : segments)
      bytes += bytesOf(*segment);
    return bytes;
  }

  /// The model's file is replaced last, and then the data of the previous export is removed.
  void commit() {
    if (data)
      data->commit();
    file->commit();
    if (!data || !replaces)
      return;
    for (const bool isAlternate : {false, true})
      if (const std::string other = dataNameOf(file->path(), isAlternate); other != data->path())
        unlink(other.c_str());
  }

  const MtcProgram &program;
  std::vector<const MtcExportSegment *> segments; ///< of the form
  std::optional<DurableFile> file, data;          ///< `data` if the model refers to a second file
  bool replaces;                                  ///< a model of an earlier export
  std::vector<std::string> records;               ///< external tensors, by segment
  std::vector<int64_t> offsets;                   ///< of their data
  int64_t end = 0;                                ///< of the model's file
};

} // namespace

void exportModel(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                 const InitialWeights &weights, MtcExportForm form, const std::string &path) {
  if (!program.segment_count)
    userError(form == MTC_INFERENCE_FORM ? "--export " : "--export-training ", path,
              ": this program was compiled without the model");
  ExportedValues values(program, device, finite, weights, path);
  ModelExport(program, form, path).write(values, weights.isQuiet());
}

} // namespace mtc::runtime
