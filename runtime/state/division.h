// The division of a variable among the ranks of a program.
#ifndef MTC_RUNTIME_STATE_DIVISION_H
#define MTC_RUNTIME_STATE_DIVISION_H

#include "runtime/abi/collective.h"
#include "runtime/abi/program.h"
#include "runtime/support/element_type.h"
#include "runtime/support/stages.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// Consecutive elements of a variable that are consecutive in the memory of a rank.
struct ElementRun {
  int64_t own;   ///< number of the first element among those of the share
  int64_t part;  ///< number of the first element among those of the part
  int64_t value; ///< number of the first element in the whole value
  int64_t count;

  /// Returns `number` elements of the run from number `first` of them on.
  ElementRun from(int64_t first, int64_t number) const {
    return {own + first, part + first, value + first, number};
  }
};

/// The shares that ranks have of a value. Runs of elements belong to the parts in turn, and a part
/// consists of flat pieces. Share i is piece i / parts of part i % parts. Elements of parts include
/// padding at the end of each block of the value, which no run contains. See MtcVariable. A value
/// of one pipeline stage that each rank of the stage has whole has one share.
struct Division {
  int64_t run = 0; ///< elements of a run; 0: each rank has the value as it is
  int64_t parts = 1;
  int64_t stride = 1; ///< of the ranks that have different parts
  int64_t piece = 0;  ///< elements of a piece
  int64_t pieces = 1;
  int64_t pieceStride = 1; ///< of the ranks that have different pieces
  int64_t total = 0;       ///< elements of the value
  int64_t block = 0;       ///< elements of a block: run * parts, less if they have padding
  int64_t firstRank = 0;   ///< of the pipeline stage whose ranks have shares
  int64_t ranks = 0;       ///< their number; 0: the ranks of each stage have shares

  static Division of(const MtcProgram &program, const MtcVariable &variable) {
    const bool isOfStage = program.stages > 1 && variable.stage >= 0;
    const int64_t ranks = isOfStage ? ranksOfStage(program) : 0, first = variable.stage * ranks;
    if (variable.whole)
      return {variable.run,
              variable.parts,
              variable.stride,
              variable.piece,
              variable.pieces,
              variable.piece_stride,
              variable.whole->bytes / typeBytes(variable.whole->type),
              variable.block,
              first,
              ranks};
    const int64_t total = variable.tensor.bytes / typeBytes(variable.tensor.type);
    return isOfStage ? Division{total, 1, 1, total, 1, 1, total, total, first, ranks} : Division();
  }

  explicit operator bool() const { return run != 0; }
  /// Returns whether a rank has a share.
  bool isHeldBy(int rank) const {
    return ranks == 0 || (firstRank <= rank && rank < firstRank + ranks);
  }
  int64_t shares() const { return parts * pieces; }
  int64_t elementsOfPart() const { return block ? total / block * run : 0; }
  /// Returns the elements of padding after each block.
  int64_t padding() const { return run * parts - block; }

  /// Returns the share of a rank that has one.
  int64_t shareOf(int rank) const {
    return mtc_number_in_group(rank, pieces, pieceStride) * parts +
           mtc_number_in_group(rank, parts, stride);
  }
  /// Returns the first rank that has a share; other ranks may have copies of it.
  int ownerOf(int64_t share) const {
    return static_cast<int>(firstRank + share / parts * pieceStride + share % parts * stride);
  }
  /// Returns the number of shares that have elements, which are the first ones.
  int64_t ownedShares() const {
    return std::min(pieces, (elementsOfPart() + piece - 1) / piece) * parts;
  }
  /// Returns the number of elements of a share.
  int64_t countOf(int64_t share) const {
    return std::clamp<int64_t>(elementsOfPart() - share / parts * piece, 0, piece);
  }

  /// Returns the share of an element of the value.
  int64_t shareOfElement(int64_t element) const {
    return inPart(element) / piece * parts + element % block / run;
  }
  /// Returns the elements from `element` on that are consecutive in the value and in a share.
  ElementRun runAt(int64_t element) const {
    const int64_t part = inPart(element), own = part % piece, inBlock = element % block;
    return {own, part, element, std::min({run - inBlock % run, block - inBlock, piece - own})};
  }
  /// Calls `use` with the runs of a share's elements from number `begin` to number `end`.
  template <typename Use>
  void forEachRun(int64_t share, int64_t begin, int64_t end, const Use &use) const {
    const int64_t inBlock = share % parts * run,
                  ofValue = std::clamp<int64_t>(block - inBlock, 0, run); // the rest is padding
    for (int64_t own = begin; own < end;) {
      const int64_t part = share / parts * piece + own, inRun = part % run,
                    count = std::min(run - inRun, end - own);
      if (inRun < ofValue)
        use(ElementRun{own, part, part / run * block + inBlock + inRun,
                       std::min(count, ofValue - inRun)});
      own += count;
    }
  }
  /// Calls `use` with the runs of a share among the elements [begin, end) of the value.
  template <typename Use>
  void forEachRunWithin(int64_t share, int64_t begin, int64_t end, const Use &use) const {
    for (int64_t at = begin; at < end;) {
      ElementRun each = runAt(at);
      each.count = std::min(each.count, end - at);
      if (shareOfElement(at) == share)
        use(each);
      at += each.count;
    }
  }

private:
  /// Returns the number of an element among those of its part.
  int64_t inPart(int64_t element) const { return element / block * run + element % block % run; }
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_DIVISION_H
