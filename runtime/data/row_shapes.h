// The shapes of a program that the rows of a data set need.
#ifndef MTC_RUNTIME_DATA_ROW_SHAPES_H
#define MTC_RUNTIME_DATA_ROW_SHAPES_H

#include "runtime/data/row_groups.h"
#include "runtime/data/shapes.h"
#include "runtime/support/failure.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The lengths of the rows of an input.
struct RowLengths {
  std::string data; ///< for messages: the user's argument
  /// Stores the lengths of consecutive rows from row `first` on.
  std::function<void(int64_t first, std::span<int64_t> lengths)> read;
};
/// One for each input of a program; nullopt for inputs whose rows have one length.
using InputLengths = std::vector<std::optional<RowLengths>>;

/// Shapes that differ only in their batch hold the same rows. They form a group, and each row
/// belongs to the group with the smallest samples that hold it.
class RowShapes {
public:
  /// `usable` are the shapes, as indices of `shapes.all()`, in which the inputs without lengths
  /// fit; at least one. Batches may have padding samples if `isMaskable`. Reads the lengths of all
  /// `rows` rows. Rows that no shape holds and lengths that do not agree are added to the problems.
  RowShapes(const Shapes &shapes, const std::vector<size_t> &usable, InputLengths inputs,
            int64_t rows, bool isMaskable, Problems &problems);

  /// Groups are ordered by the size of a sample.
  size_t groups() const { return groupList.size(); }
  int64_t rowsOf(size_t group) const { return inGroups.count(group); }
  int64_t row(size_t group, int64_t index) const { return inGroups.row(group, index); }
  /// Returns whether the shapes of group `large` hold the rows of group `small`.
  bool holds(size_t large, size_t small) const;
  /// Returns the number of groups that have rows.
  size_t usedGroups() const;

  int64_t batchOf(size_t shape) const { return shapes.all()[shape].batch; }
  /// Returns the largest batch of a group.
  int64_t batchOfGroup(size_t group) const { return batchOf(groupList[group].shapes.back()); }
  /// Returns the largest batch of the shapes that hold all rows.
  int64_t batchOfAll() const { return batchOfGroup(groupOfAll); }

  /// Returns the smallest shape whose `parts` batches hold the rows, which number at most those of
  /// `batchOfAll`.
  size_t choose(std::span<const int64_t> rows, int64_t parts) const;
  /// Returns the smallest shape whose `parts` batches hold `count` rows of a group; nullopt if
  /// there is none.
  std::optional<size_t> chooseFor(size_t group, int64_t count, int64_t parts) const {
    return smallest(group, count, parts, /*isExact=*/!isMaskable);
  }
  /// The same, with as many samples as rows if `isExact`, and possibly padding samples otherwise.
  std::optional<size_t> smallest(size_t group, int64_t count, int64_t parts, bool isExact) const;
  /// Returns whether `parts` batches of a shape hold `count` rows, whatever their lengths, without
  /// padding samples unless the loss can ignore them.
  bool holdsRest(int64_t count, int64_t parts) const {
    return chooseFor(groupOfAll, count, parts).has_value();
  }
  /// Returns whether shapes differ only in their batch.
  bool hasSeveralBatches() const { return groupList[groupOfAll].shapes.size() > 1; }
  /// Returns the smallest group whose shapes hold the rows.
  size_t groupHolding(std::span<const int64_t> rows) const;

  /// Returns a one-line warning about lengths that may be unintended; "" if there is none.
  const std::string &warning() const { return warningText; }

private:
  struct Group {
    std::vector<int64_t> lengths; ///< of inputs with lengths; 0 for others
    std::vector<size_t> shapes;   ///< by ascending batch
  };
  using Lengths = std::vector<std::vector<int64_t>>; ///< of a range of rows, for each column

  void makeGroups(const std::vector<size_t> &usable);
  void readRows(int64_t rows, Problems &problems);
  void addRow(const Lengths &lengths, int64_t first, size_t row, Problems &problems);
  void compareLengths(const Lengths &lengths, int64_t first, size_t row, Problems &problems);
  void chooseGroupOfAll(Problems &problems);
  /// Returns the smallest group that holds all groups for which `isPresent`; `groups()` if there is
  /// none.
  template <typename Predicate> size_t groupHoldingAll(const Predicate &isPresent) const;
  int64_t bytesOf(size_t shape) const;

  const Shapes &shapes;
  InputLengths inputs;
  bool isMaskable;
  std::vector<Group> groupList;
  RowGroups inGroups{0};
  size_t groupOfAll = 0;
  bool hasLongRow = false, hasUnequalRow = false;
  std::string warningText;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_ROW_SHAPES_H
