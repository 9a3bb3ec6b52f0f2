// Rank 0 sends requests, and the other ranks answer them.
#include "runtime/state/divided_file.h"

#include "runtime/io/checksum.h"
#include "runtime/io/shared_file.h"
#include "runtime/state/divergence.h"
#include "runtime/state/stored_variable.h"

#include <cstring>
#include <filesystem>
#include <memory>

namespace mtc::runtime {
namespace {

/// The number of bytes that a rank writes for one request. A slow disk can write them within the
/// time limit of a wait.
constexpr int64_t requestBytes = 16 << 20;

} // namespace

/// A piece that is being written to a file.
struct DividedFile::WrittenPiece {
  const StoredVariable &variable;
  bool refusesNonFinite;
  Checksum checksum{};
  bool isRefused = false; ///< an element is not finite

  void add(const char *from, int64_t bytes) {
    isRefused = isRefused || (refusesNonFinite && !isFinite(variable.type(), from, bytes));
    checksum.add(from, bytes);
  }
};

namespace {

/// The part of a rank other than 0, which executes the requests of rank 0.
class RankOfFile {
public:
  RankOfFile(const MtcProgram &program, Device &device)
      : program(program), device(device), exchange(*device.ranks()->pieces()) {}

  void answer(const PieceRequest &request) {
    switch (request.kind) {
    case PieceRequest::Kind::Read:
      return send(request);
    case PieceRequest::Kind::Open:
      file = SharedFile::open(exchange.broadcastText(""), request.file);
      return exchange.reply({file ? PieceReply::Status::Done : PieceReply::Status::Absent});
    case PieceRequest::Kind::Write:
    case PieceRequest::Kind::Sync:
      return attempt(request);
    case PieceRequest::Kind::Wait:
    case PieceRequest::Kind::Proceed:
      return;
    }
  }

private:
  void send(const PieceRequest &request) {
    char *to = exchange.chunk();
    StoredVariable(program, static_cast<uint32_t>(request.variable))
        .readOwn(device, request.begin, PieceExchange::chunkBytes,
                 [&](const char *from, int64_t, int64_t bytes) {
                   std::memcpy(to, from, static_cast<size_t>(bytes));
                   to += bytes;
                 });
    exchange.sendToLeader(device.ranks()->rank());
  }

  void attempt(const PieceRequest &request) {
    try {
      exchange.reply(request.kind == PieceRequest::Kind::Write ? write(request) : sync());
    } catch (const Failure &failure) {
      exchange.reply({PieceReply::Status::Failed});
      exchange.sendTextToLeader(device.ranks()->rank(), failure.what());
    }
  }

  PieceReply write(const PieceRequest &request) {
    const StoredVariable variable(program, static_cast<uint32_t>(request.variable));
    if (request.begin == 0)
      ofPiece = {};
    DividedFile::WrittenPiece piece{variable, request.refusesNonFinite != 0, ofPiece};
    variable.readOwn(device, request.begin, requestBytes,
                     [&](const char *from, int64_t at, int64_t bytes) {
                       piece.add(from, bytes);
                       file->write(static_cast<int64_t>(request.file) + at, from, bytes);
                     });
    ofPiece = piece.checksum;
    return {piece.isRefused ? PieceReply::Status::NotFinite : PieceReply::Status::Done,
            ofPiece.value()};
  }

  PieceReply sync() {
    file->sync();
    file.reset();
    return {};
  }

  const MtcProgram &program;
  Device &device;
  PieceExchange &exchange;
  std::unique_ptr<SharedFile> file;
  Checksum ofPiece;
};

} // namespace

void waitForRankZero(const MtcProgram &program, Device &device) {
  if (!device.ranks() || !device.ranks()->pieces())
    return;
  PieceExchange &exchange = *device.ranks()->pieces();
  if (device.ranks()->isLeader())
    return exchange.askAll({PieceRequest::Kind::Proceed});
  RankOfFile rank(program, device);
  for (;;) {
    const PieceRequest request = exchange.receive();
    if (request.kind == PieceRequest::Kind::Proceed)
      return;
    rank.answer(request);
  }
}

DividedFile::DividedFile(const MtcProgram &program, Device &device, SafetensorsWriter &file)
    : program(program), device(device), file(file) {}

void DividedFile::open() {
  Ranks &ranks = *device.ranks();
  PieceExchange &exchange = *ranks.pieces();
  const std::string path = std::filesystem::absolute(file.share()).string();
  exchange.askAll({.kind = PieceRequest::Kind::Open, .file = fileNumber(path)});
  exchange.broadcastText(path);
  sees.emplace(static_cast<size_t>(ranks.count()));
  for (int r = 1; r < ranks.count(); ++r)
    (*sees)[static_cast<size_t>(r)] = exchange.replyOf(r).status == PieceReply::Status::Done;
}

PieceReply DividedFile::replyOf(int rank, Problems &problems) {
  PieceExchange &exchange = *device.ranks()->pieces();
  const PieceReply reply = exchange.replyOf(rank);
  if (reply.status == PieceReply::Status::Failed)
    problems.attempt([&] {
      systemError(device.ranks()->describe(rank), ": ", exchange.sendTextToLeader(rank, ""),
                  "; nothing was replaced");
    });
  return reply;
}

/// Returns the first share that a rank other than 0 writes. Rank 0 has share 0, or, of a value of
/// another pipeline stage, none.
static int64_t firstOfOthers(const Division &division) { return division.isHeldBy(0) ? 1 : 0; }

std::optional<uint64_t> DividedFile::write(uint32_t index, size_t tensor, bool refusesNonFinite) {
  if (!sees)
    open();
  const StoredVariable variable(program, index);
  const Division &division = variable.divided();
  // The last ranks may own nothing.
  const int64_t owners = division.ownedShares();
  std::vector<uint64_t> checksums(static_cast<size_t>(owners));
  WrittenPiece own{variable, refusesNonFinite};
  bool isRefused = false;
  for (int64_t at = 0; at < variable.shareBytes(0); at += requestBytes)
    isRefused |= writeShares(own, index, tensor, at, checksums);
  for (int64_t share = firstOfOthers(division); share < owners; ++share) {
    if ((*sees)[static_cast<size_t>(division.ownerOf(share))])
      continue;
    WrittenPiece piece{variable, refusesNonFinite};
    variable.readShare(device, share, [&](const char *from, int64_t to, int64_t bytes) {
      piece.add(from, bytes);
      file.write(tensor, to, from, bytes);
    });
    isRefused |= piece.isRefused;
    checksums[static_cast<size_t>(share)] = piece.checksum.value();
  }
  if (isRefused || own.isRefused)
    return std::nullopt;
  if (firstOfOthers(division))
    checksums[0] = own.checksum.value();
  if (!variable.isDivided())
    return checksums[0];
  PieceChecksum all(variable.pieceSizes());
  for (uint64_t checksum : checksums)
    all.addPiece(checksum);
  return all.value();
}

bool DividedFile::writeShares(WrittenPiece &own, uint32_t index, size_t tensor, int64_t at,
                              std::vector<uint64_t> &checksums) {
  PieceExchange &exchange = *device.ranks()->pieces();
  const Division &division = own.variable.divided();
  std::vector<int64_t> asked; // shares
  exchange.keepWaiting();
  const int64_t first = firstOfOthers(division);
  for (int64_t share = first; share < static_cast<int64_t>(checksums.size()); ++share) {
    const int rank = division.ownerOf(share);
    if (!(*sees)[static_cast<size_t>(rank)] || at >= own.variable.shareBytes(share))
      continue;
    exchange.ask(rank, {PieceRequest::Kind::Write, index, at,
                        static_cast<uint64_t>(file.startOf(tensor)), own.refusesNonFinite});
    asked.push_back(share);
  }
  // All answers are received, also where a rank fails.
  Problems problems;
  problems.attempt([&] {
    if (first)
      own.variable.readOwn(device, at, requestBytes,
                           [&](const char *from, int64_t to, int64_t bytes) {
                             own.add(from, bytes);
                             file.write(tensor, to, from, bytes);
                           });
  });
  bool isRefused = false;
  for (int64_t share : asked) {
    const PieceReply reply = replyOf(division.ownerOf(share), problems);
    isRefused |= reply.status == PieceReply::Status::NotFinite;
    checksums[static_cast<size_t>(share)] = reply.checksum;
  }
  problems.throwIfAny();
  return isRefused;
}

void DividedFile::sync() {
  if (!sees)
    return;
  auto forEachWriter = [&](auto action) {
    for (int r = 1; r < device.ranks()->count(); ++r)
      if ((*sees)[static_cast<size_t>(r)])
        action(r);
  };
  Problems problems;
  forEachWriter([&](int r) { device.ranks()->pieces()->ask(r, {PieceRequest::Kind::Sync}); });
  forEachWriter([&](int r) { replyOf(r, problems); });
  problems.throwIfAny();
}

} // namespace mtc::runtime
