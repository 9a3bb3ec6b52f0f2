// Lengths are read once, before a run begins, so that the shape of a step is known without its
// data.
#include "runtime/data/row_shapes.h"

#include "runtime/support/element_type.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mtc::runtime {

RowShapes::RowShapes(const Shapes &shapes, const std::vector<size_t> &usable, InputLengths inputs,
                     int64_t rows, bool isMaskable, Problems &problems)
    : shapes(shapes), inputs(std::move(inputs)), isMaskable(isMaskable) {
  makeGroups(usable);
  inGroups = RowGroups(groupList.size());
  problems.collect([&] { readRows(rows, problems); });
  if (!problems.any())
    chooseGroupOfAll(problems);
  this->inputs.clear(); // They refer to data of the caller.
}

int64_t RowShapes::bytesOf(size_t shape) const { return inputBytes(shapes.all()[shape]); }

void RowShapes::makeGroups(const std::vector<size_t> &usable) {
  for (size_t shape : usable) {
    const MtcProgram &program = shapes.all()[shape];
    std::vector<int64_t> lengths(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i])
        lengths[i] = program.inputs[i].tensor.dims[1];
    auto known = std::find_if(groupList.begin(), groupList.end(),
                              [&](const Group &group) { return group.lengths == lengths; });
    if (known == groupList.end())
      known = groupList.insert(groupList.end(), {lengths, {}});
    known->shapes.push_back(shape);
  }
  for (Group &group : groupList)
    std::sort(group.shapes.begin(), group.shapes.end(), [&](size_t a, size_t b) {
      return std::pair(batchOf(a), bytesOf(a)) < std::pair(batchOf(b), bytesOf(b));
    });
  auto bytesOfSample = [&](const Group &group) {
    return bytesOf(group.shapes.back()) / std::max<int64_t>(1, batchOf(group.shapes.back()));
  };
  std::sort(groupList.begin(), groupList.end(), [&](const Group &a, const Group &b) {
    return std::pair(bytesOfSample(a), a.lengths) < std::pair(bytesOfSample(b), b.lengths);
  });
}

bool RowShapes::holds(size_t large, size_t small) const {
  const std::vector<int64_t> &a = groupList[large].lengths, &b = groupList[small].lengths;
  return std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>());
}

void RowShapes::readRows(int64_t rows, Problems &problems) {
  constexpr int64_t chunkRows = 4096;
  Lengths lengths(inputs.size());
  for (int64_t first = 0; first < rows; first += chunkRows) {
    const int64_t count = std::min(chunkRows, rows - first);
    for (size_t i = 0; i < inputs.size(); ++i) {
      lengths[i].assign(static_cast<size_t>(count), 0);
      if (inputs[i])
        inputs[i]->read(first, lengths[i]);
    }
    for (size_t row = 0; row < static_cast<size_t>(count); ++row) {
      compareLengths(lengths, first, row, problems);
      addRow(lengths, first, row, problems);
    }
  }
}

void RowShapes::addRow(const Lengths &lengths, int64_t first, size_t row, Problems &problems) {
  auto fits = [&](const Group &group) {
    for (size_t i = 0; i < lengths.size(); ++i)
      if (lengths[i][row] > group.lengths[i])
        return false;
    return true;
  };
  const auto found = std::find_if(groupList.begin(), groupList.end(), fits);
  if (found != groupList.end())
    return inGroups.add(static_cast<size_t>(found - groupList.begin()));
  inGroups.add(groupList.size() - 1);
  if (std::exchange(hasLongRow, true))
    return;
  for (size_t i = 0; i < lengths.size(); ++i) {
    int64_t longest = 0;
    for (const Group &group : groupList)
      longest = std::max(longest, group.lengths[i]);
    if (lengths[i][row] > longest)
      problems.add(inputs[i]->data, ": row ", first + static_cast<int64_t>(row), " has ",
                   lengths[i][row], " values, but the longest rows of the input '",
                   shapes.all().front().inputs[i].tensor.name, "' have ", longest,
                   "; compile with a larger --dim, or truncate rows");
  }
  if (!problems.any())
    problems.add("no shape of the program holds row ", first + static_cast<int64_t>(row),
                 " of the data, though each of its lengths fits into one");
}

/// Checks that a row has one length in all inputs that have the same extents in every shape.
void RowShapes::compareLengths(const Lengths &lengths, int64_t first, size_t row,
                               Problems &problems) {
  for (size_t i = 0; i < lengths.size() && !hasUnequalRow; ++i)
    for (size_t j = 0; j < i && !hasUnequalRow; ++j) {
      if (!inputs[i] || !inputs[j] || lengths[i][row] == lengths[j][row] ||
          !shapes.haveEqualExtents(i, j))
        continue;
      hasUnequalRow = true;
      const std::string difference =
          text(inputs[i]->data, ": row ", first + static_cast<int64_t>(row), " has ",
               lengths[i][row], " values, but in ", inputs[j]->data, " it has ", lengths[j][row]);
      if (shapes.areNextTokens(i, j) || shapes.areNextTokens(j, i))
        problems.add(difference, "; labels of causal-lm are as long as their tokens");
      else
        warningText = difference + "; both are padded to the length of the same shape";
    }
}

void RowShapes::chooseGroupOfAll(Problems &problems) {
  groupOfAll = groupHoldingAll([&](size_t group) { return rowsOf(group) > 0; });
  if (groupOfAll < groupList.size())
    return;
  groupOfAll = 0;
  problems.add("no shape of the program holds the rows of all other shapes; compile with a shape "
               "that is at least as long in every dimension");
}

size_t RowShapes::usedGroups() const {
  size_t used = 0;
  for (size_t group = 0; group < groups(); ++group)
    used += rowsOf(group) > 0;
  return used;
}

template <typename Predicate> size_t RowShapes::groupHoldingAll(const Predicate &isPresent) const {
  for (size_t large = 0; large < groups(); ++large) {
    bool holdsAll = true;
    for (size_t small = 0; small < groups(); ++small)
      holdsAll &= !isPresent(small) || holds(large, small);
    if (holdsAll)
      return large;
  }
  return groups();
}

size_t RowShapes::groupHolding(std::span<const int64_t> rows) const {
  std::array<bool, RowGroups::maxGroups> isPresent{};
  for (int64_t row : rows)
    isPresent[inGroups.groupOf(row)] = true;
  return std::min(groupHoldingAll([&](size_t group) { return isPresent[group]; }), groupOfAll);
}

std::optional<size_t> RowShapes::smallest(size_t group, int64_t count, int64_t parts,
                                          bool isExact) const {
  std::optional<size_t> found;
  for (size_t large = 0; large < groups(); ++large)
    for (size_t shape : groupList[large].shapes) {
      const int64_t space = batchOf(shape) * parts;
      if (holds(large, group) && (isExact ? space == count : space >= count) &&
          (!found || bytesOf(shape) < bytesOf(*found)))
        found = shape;
    }
  return found;
}

size_t RowShapes::choose(std::span<const int64_t> rows, int64_t parts) const {
  const auto count = static_cast<int64_t>(rows.size());
  const std::optional<size_t> found = chooseFor(groupHolding(rows), count, parts);
  return found ? *found : groupList[groupOfAll].shapes.back();
}

} // namespace mtc::runtime
