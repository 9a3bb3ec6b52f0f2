// Saves and loads checkpoints.
#include "runtime/state/checkpoint.h"

#include "runtime/collectives/piece_exchange.h"
#include "runtime/collectives/ranks.h"
#include "runtime/io/durable_file.h"
#include "runtime/state/divided_file.h"
#include "runtime/state/initial_values.h"
#include "runtime/state/module_tensors.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/tensor_writer.h"
#include "runtime/state/value_reader.h"
#include "runtime/state/variables.h"
#include "runtime/state/weights_check.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "support/files/written_by_mtc.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

static bool exists(const std::string &path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0;
}

static bool isSameFile(const std::string &one, const std::string &other) {
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static std::string readText(const std::string &path) {
  InputFile file(path);
  if (file.size() > 64 << 20)
    userError(path, ": is too large for a manifest");
  std::string text(static_cast<size_t>(file.size()), '\0');
  file.read(0, text.data(), file.size());
  return text;
}

CheckpointFolder::CheckpointFolder(std::string name) : folder(std::move(name)) {
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  for (size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
    std::string part = folder.substr(0, slash);
    if (mkdir(part.c_str(), 0777) == 0)
      made.push_back(part);
    else if (const int error = errno; error != EEXIST)
      throw Failure(isFaultOfMachine(error) ? exitSystemFault : exitUserInput,
                    text("--save ", folder, ": the folder ", part,
                         " cannot be made: ", std::strerror(error)));
    if (slash == std::string::npos)
      break;
  }
  struct stat status;
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    userError("--save ", folder, ": is not a folder");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    userError("--save ", folder, ": cannot be written to: ", std::strerror(errno));
  lock.emplace(folder);
}

CheckpointFolder::~CheckpointFolder() {
  lock.reset();
  // Folders that are not empty remain.
  for (; !made.empty(); made.pop_back())
    rmdir(made.back().c_str());
}

bool CheckpointFolder::isAt(const std::string &path) const { return isSameFile(path, folder); }

std::optional<int64_t> CheckpointFolder::heldStep() const {
  try {
    if (exists(path(manifestName)))
      return stepOfManifest(readText(path(manifestName)));
  } catch (const Failure &) {
    return std::nullopt; // Loading reports the details.
  }
  return std::nullopt;
}

std::string CheckpointFolder::held() const {
  if (!exists(path(manifestName)))
    return folder + " holds no checkpoint";
  if (const std::optional<int64_t> step = heldStep())
    return text("the checkpoint of step ", *step, " is in ", folder);
  return text("a checkpoint that cannot be read is in ", folder);
}

void CheckpointFolder::checkReplaces(const std::string &resumed) const {
  if (exists(path(manifestName)) && (resumed.empty() || !isSameFile(resumed, folder)))
    userError("--save ", folder, ": ", held(),
              ", and this run does not go on from it. To do so, "
              "give --resume ",
              folder,
              "; to keep it, save into another folder; to lose it, give "
              "--overwrite");
}

void CheckpointFolder::removeOthers(const std::string &kept) const {
  DIR *directory = opendir(folder.c_str());
  if (!directory)
    return;
  std::vector<std::string> names;
  while (const dirent *entry = readdir(directory))
    if (isCheckpointFileName(entry->d_name) && entry->d_name != kept)
      names.emplace_back(entry->d_name);
  closedir(directory);
  for (const std::string &name : names)
    // A user's file may have the name of a checkpoint file, so the mark is checked. Files of killed
    // runs are incomplete and have a leading dot.
    if (name.front() == '.' || files::isWrittenByMtc(path(name)))
      unlink(path(name).c_str());
}

/// Returns the checksums of frozen variables. Checkpoints do not contain these variables, and a
/// resumed run must have the same ones.
static std::map<std::string, std::string> frozenChecksums(const MtcProgram &program,
                                                          Device &device) {
  std::map<std::string, std::string> checksums;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role != MTC_FROZEN)
      continue;
    Checksum sum;
    StoredVariable(program, i).read(device, [&](const char *from, int64_t, int64_t bytes) {
      sum.add(from, bytes);
    });
    checksums[variable.tensor.name] = checksumText(sum.value());
  }
  return checksums;
}

/// Returns the checksum of a tensor that was written in another order than that of its elements.
/// The other ranks are waiting.
static uint64_t checksumOfWritten(SafetensorsWriter &file, size_t index, int64_t bytes,
                                  Device &device) {
  constexpr int64_t maximum = 4 << 20;
  std::vector<char> read(static_cast<size_t>(std::min(maximum, bytes)));
  Checksum sum;
  for (int64_t at = 0; at < bytes; at += maximum) {
    const int64_t count = std::min(maximum, bytes - at);
    file.read(index, at, read.data(), count);
    sum.add(read.data(), count);
    if (device.ranks() && device.ranks()->pieces())
      device.ranks()->pieces()->keepWaiting();
  }
  return sum.value();
}

/// Returns whether ranks other than this one write elements of a variable.
static bool isWrittenByOthers(const MtcProgram &program, Device &device, uint32_t variable) {
  const StoredVariable stored(program, variable);
  return device.ranks() && device.ranks()->pieces() &&
         (stored.isDivided() || !stored.isHeldBy(device.ranks()->rank()));
}

void CheckpointFolder::writeTensors(const MtcProgram &program, Device &device,
                                    const FiniteVariables &finite, CheckpointManifest &manifest) {
  if (!frozen)
    frozen = frozenChecksums(program, device);
  manifest.checksums = *frozen;
  const std::vector<ModuleTensor> tensors =
      moduleTensors(program, ModuleNames::First,
                    [&](uint32_t variable) { return isSaved(program.variables[variable]); });
  std::vector<SafetensorsEntry> entries;
  entries.reserve(tensors.size());
  for (const ModuleTensor &tensor : tensors)
    entries.push_back({tensor.name, tensor.type, tensor.dims});
  SafetensorsWriter writer(path(manifest.file), entries, {{MTC_WEIGHTS_NAMES, MTC_MODULE_NAMES}});
  DividedFile divided(program, device, writer);
  auto refuse = [&](size_t tensor) {
    stopDiverged(text("after step ", manifest.state.step, ", '", tensors[tensor].name,
                      "' holds values that are not finite"),
                 held());
  };
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint32_t first = tensors[i].pieces.front().variable;
    if (tensors[i].isPlain() && isWrittenByOthers(program, device, first)) {
      const auto checksum = divided.write(first, i, finite.includes(first));
      if (!checksum)
        refuse(i);
      manifest.checksums[tensors[i].name] = checksumText(*checksum);
      if (const StoredVariable stored(program, first); stored.isDivided())
        manifest.pieces[tensors[i].name] = stored.pieceSizes();
      continue;
    }
    auto read = [&](uint32_t variable, const Device::Use &use) {
      if (!finite.read(program, device, variable, use))
        refuse(i);
    };
    const bool isInOrder = tensors[i].isPlain();
    Checksum sum;
    writePieces(program, tensors[i].pieces, tensors[i].type, read,
                [&](int64_t at, const char *from, int64_t bytes) {
                  writer.write(i, at, from, bytes);
                  if (isInOrder)
                    sum.add(from, bytes);
                });
    manifest.checksums[tensors[i].name] = checksumText(
        isInOrder ? sum.value() : checksumOfWritten(writer, i, tensors[i].bytes(), device));
  }
  divided.sync();
  manifest.bytes = writer.fileBytes();
  writer.commit();
}

void CheckpointFolder::checkPresent() const {
  struct stat status;
  if (stat(folder.c_str(), &status) != 0)
    systemError("--save ", folder,
                ": the folder was there at the start, and is not now: ", std::strerror(errno),
                "; what was saved there is lost");
}

std::string CheckpointFolder::newFileName(int64_t step) const {
  std::string name;
  for (int attempt = 0; name.empty() || exists(path(name)); ++attempt)
    name = checkpointFileName(step, attempt);
  return name;
}

void CheckpointFolder::commit(const MtcProgram &program, CheckpointManifest manifest) {
  // A symbolic link in the folder refers to a file that is not part of the checkpoint.
  DurableFile file(path(manifestName), DurableFile::Links::Replaced);
  file.append(writeManifest(program, manifest));
  file.commit();
  removeOthers(manifest.file);
  latest = std::move(manifest);
}

void CheckpointFolder::save(const MtcProgram &program, Device &device, const TrainingState &state,
                            const FiniteVariables &finite) {
  checkPresent();
  lock->renew();
  CheckpointManifest manifest;
  manifest.state = state;
  manifest.file = newFileName(state.step);
  writeTensors(program, device, finite, manifest);
  commit(program, std::move(manifest));
}

void CheckpointFolder::adopt(const MtcProgram &program, const CheckpointFolder &other) {
  checkPresent();
  lock->renew();
  CheckpointManifest manifest = *other.latest;
  const std::string from = other.path(manifest.file);
  if (!isSameFile(from, path(manifest.file))) {
    manifest.file = newFileName(manifest.state.step);
    if (link(from.c_str(), path(manifest.file).c_str()) == 0)
      syncFolder(folder);
    else
      copyFile(from, path(manifest.file));
  }
  commit(program, std::move(manifest));
}

Checkpoint::Checkpoint(const MtcProgram &program, const std::string &folder) {
  const std::string path = folder + "/" + manifestName;
  if (!exists(path))
    userError("--resume ", folder, ": holds no checkpoint (no ", manifestName, ")");
  for (std::string text = readText(path), newer;; text = newer) {
    manifest = parseManifest(program, path, text);
    try {
      file.emplace(folder + "/" + manifest.file);
      break;
    } catch (const Failure &) {
      // A concurrent run replaced the manifest and then removed the file.
      newer = readText(path);
      if (newer == text)
        throw;
    }
  }
  if (file->bytes() != manifest.bytes)
    userError(file->path(), ": has ", file->bytes(), " bytes; its manifest says ", manifest.bytes);
}

/// Returns a tensor of the file. Throws a user error if it is missing or another than expected.
const ArrayOnDisk &Checkpoint::find(const MtcTensor &expected) const {
  const ArrayOnDisk *found = file->find(expected.name);
  if (!found)
    userError(file->path(), ": tensor '", expected.name, "' is missing");
  if (std::string why = mismatch(expected, *found); !why.empty())
    userError(file->path(), ": tensor '", expected.name, "' ", why);
  return *found;
}

/// Throws a user error that a tensor of the file is damaged.
void Checkpoint::refuseDamaged(const std::string &name) const {
  userError(file->path(), ": tensor '", name, "' is damaged: its checksum is not the manifest's");
}

/// Computes the checksum of a whole tensor of the file if it is this rank's turn to verify the
/// variable: its ranks take turns. Returns whether it is this rank's turn.
static bool addAll(Device &device, uint32_t variable, const StoredVariable &stored,
                   const ArrayOnDisk &tensor, PieceChecksum &sum) {
  const Ranks &ranks = *device.ranks();
  // Each rank of a value that is not divided has verified it.
  if (!stored.isDivided() || !stored.isHeldBy(ranks.rank()) ||
      static_cast<int64_t>(variable) % ranks.countOfStage() != ranks.rank() % ranks.countOfStage())
    return false;
  const int64_t bytes = stored.bytes();
  constexpr int64_t chunk = 1 << 20;
  std::vector<char> read(static_cast<size_t>(std::min(chunk, bytes)));
  sum.restart();
  for (int64_t at = 0; at < bytes; at += chunk) {
    const int64_t count = std::min(chunk, bytes - at);
    readArray(tensor, at, read.data(), count);
    sum.add(read.data(), count);
  }
  return true;
}

/// Loads a variable that a tensor has with its elements in order.
void Checkpoint::loadInOrder(const MtcTensor &tensor, const StoredVariable &stored, Device &device,
                             uint32_t index) const {
  const ArrayOnDisk &found = find(tensor);
  PieceChecksum sum = manifest.emptyChecksumOf(tensor.name);
  const bool isWhole = stored.write(device, [&](char *to, int64_t at, int64_t bytes) {
    readArray(found, at, to, bytes);
    sum.add(to, bytes);
  });
  if (!isWhole && !addAll(device, index, stored, found, sum))
    return;
  auto known = manifest.checksums.find(tensor.name);
  if (known == manifest.checksums.end() || known->second != checksumText(sum.value()))
    refuseDamaged(tensor.name);
}

/// Loads a variable whose elements are in tensors that have them in another order.
void Checkpoint::loadImages(const MtcTensor &value,
                            const std::vector<const MtcTensorImage *> &images,
                            const StoredVariable &stored, Device &device) const {
  std::vector<ArrayOnDisk> arrays;
  std::vector<FoundTensor> found;
  arrays.reserve(images.size());
  for (const MtcTensorImage *image : images) {
    const std::string name = image->name;
    ArrayOnDisk &array = arrays.emplace_back(find(tensorOf(value, *image)));
    auto known = manifest.checksums.find(name);
    const auto sum =
        known == manifest.checksums.end() ? std::nullopt : parseChecksum(known->second);
    if (!sum)
      refuseDamaged(name);
    array.checksum = std::make_shared<ExpectedChecksum>(
        text(file->path(), ": tensor '", name, "'"), "resume from another checkpoint", *sum,
        *elementCount(array.dims, 1) * typeBytes(array.type));
    found.push_back({name, &array, image});
  }
  const TensorReader reader(value, found, ElementOrder::RowMajor);
  const int64_t size = typeBytes(value.type);
  ReadAhead ahead;
  stored.write(device, [&](char *to, int64_t at, int64_t bytes) {
    ahead.read(to, at, bytes, size, value.bytes / size,
               [&](char *held, int64_t first, int64_t count) {
                 reader.read(value.type, held, first, count);
               });
  });
}

void Checkpoint::loadVariable(const MtcProgram &program, Device &device, uint32_t index,
                              const std::set<uint32_t> &complete) const {
  const StoredVariable stored(program, index);
  MtcTensor tensor = stored.tensor();
  const auto groups = complete.contains(index) ? imageGroups(program, index)
                                               : std::vector<std::vector<const MtcTensorImage *>>();
  if (!groups.empty() && !isWhole(groups.front().front()))
    return loadImages(tensor, groups.front(), stored, device);
  if (!groups.empty())
    tensor = tensorOf(tensor, *groups.front().front());
  loadInOrder(tensor, stored, device, index);
}

void Checkpoint::load(const MtcProgram &program, Device &device) const {
  Problems problems;
  auto isIncluded = [&](uint32_t variable) { return isSaved(program.variables[variable]); };
  const std::set<uint32_t> complete = completeVariables(program, ModuleNames::First, isIncluded);
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (isIncluded(i) && !isSumOfStep(program, program.variables[i]))
      problems.collect([&] { loadVariable(program, device, i, complete); });
  problems.throwIfAny();
  if (device.ranks() && !device.ranks()->isLeader())
    return waitForRankZero(program, device);
  for (const auto &[name, checksum] : frozenChecksums(program, device))
    if (auto expected = manifest.checksums.find(name);
        expected == manifest.checksums.end() || expected->second != checksum)
      userError(file->path(), ": was trained with another value of '", name,
                "', which is frozen; --weights names the file that its run started from");
  waitForRankZero(program, device);
}

} // namespace mtc::runtime
