#include "runtime/state/export_weights.h"

#include "runtime/collectives/piece_exchange.h"
#include "runtime/collectives/ranks.h"
#include "runtime/io/safetensors.h"
#include "runtime/state/exported_tensor.h"
#include "runtime/state/transfer_progress.h"
#include "runtime/state/weights_folder.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

namespace mtc::runtime {

/// Warns once about all variables whose names in the module are unknown.
static void warnOfUnknownNames(const MtcProgram &program,
                               const std::vector<ExportedTensor> &tensors,
                               const std::string &path) {
  std::string names;
  int count = 0;
  for (const ExportedTensor &tensor : tensors)
    if (!tensor.pieces.empty() && !program.variables[tensor.pieces.front().variable].is_in_module &&
        ++count <= 5)
      names += (names.empty() ? "'" : ", '") + tensor.name + "'";
  if (count)
    warn(path, ": the names that the module has for ", count, " tensors are not known: ", names,
         count > 5 ? ", ..." : "", "; they have those of the ONNX file's initializers");
}

static void writeFile(const std::string &path, const std::vector<ExportedTensor> &tensors,
                      const WeightsFolder::Write &write) {
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const ExportedTensor &tensor : tensors)
    entries.push_back({tensor.name, tensor.type, tensor.dims});
  SafetensorsWriter file(path, entries, {{"format", "pt"}, {MTC_WEIGHTS_NAMES, MTC_MODULE_NAMES}});
  for (size_t i = 0; i < tensors.size(); ++i)
    write(tensors[i],
          [&](int64_t at, const char *from, int64_t bytes) { file.write(i, at, from, bytes); });
  file.commit();
}

void exportWeights(const MtcProgram &program, Device &device, const FiniteVariables &finite,
                   const InitialWeights &weights, int64_t batches, const WeightsFormat &format,
                   const std::string &path) {
  const bool isFolder = isWeightsFolder(path);
  if (const std::string problem = isFolder ? problemOfReplacing(path) : ""; !problem.empty())
    userError(path, ": ", problem);
  std::vector<ExportedTensor> tensors =
      isFolder ? pretrainedTensors(program, weights) : stateDict(program);
  if (format.type)
    setFloatType(tensors, *format.type);
  int64_t total = 0;
  for (const ExportedTensor &tensor : tensors)
    total += tensor.bytes();
  TransferProgress progress("writing weights", total, weights.isQuiet());
  ExportedValues values(program, device, finite, weights, path);
  PieceExchange *waiting = device.ranks() ? device.ranks()->pieces() : nullptr;
  auto write = [&](const ExportedTensor &tensor, const WriteBytes &writeBytes) {
    writeTensor(program, values, tensor, batches, [&](int64_t at, const char *from, int64_t bytes) {
      writeBytes(at, from, bytes);
      progress.add(bytes);
      if (waiting && tensor.pieces.empty())
        waiting->keepWaiting();
    });
  };
  if (isFolder) {
    const NamedWeights *loaded = weights.exportedNames();
    WeightsFolder(tensors, format.maxShardBytes)
        .write(path, loaded ? folderOfWeights(loaded->file().path()) : "", format.type, write);
  } else {
    writeFile(path, tensors, write);
  }
  warnOfUnknownNames(program, tensors, path);
}

} // namespace mtc::runtime
