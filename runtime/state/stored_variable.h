// Values of variables, independent of their storage in the arena.
#ifndef MTC_RUNTIME_STATE_STORED_VARIABLE_H
#define MTC_RUNTIME_STATE_STORED_VARIABLE_H

#include "runtime/devices/device.h"
#include "runtime/io/checksum.h"
#include "runtime/state/division.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A variable in the form that files use. f32 elements whose halves are stored in two variables are
/// joined on reads and split on writes. Shares of a divided variable are read from their ranks.
class StoredVariable {
public:
  StoredVariable(const MtcProgram &program, uint32_t index);

  /// Returns the MtcType of the value's elements.
  uint32_t type() const { return low ? uint32_t{MTC_F32} : variable.tensor.type; }
  /// Returns the size of the whole value.
  int64_t bytes() const { return tensor().bytes; }
  /// Returns the whole value's tensor.
  MtcTensor tensor() const;
  /// Returns whether no rank has the whole value.
  bool isDivided() const { return division.shares() > 1; }
  /// Returns whether some ranks do not have the whole value: it is divided, or the value of one
  /// pipeline stage.
  bool isPartial() const { return isDivided() || division.ranks > 0; }
  /// Returns whether a rank has elements of the value.
  bool isHeldBy(int rank) const { return division.isHeldBy(rank); }
  /// Returns how the value is divided among the ranks.
  const Division &divided() const { return division; }
  /// Returns the size of a share of a divided value.
  int64_t shareBytes(int64_t share) const;
  /// Returns the sizes of the shares for the checksum of a divided value.
  PieceSizes pieceSizes() const;

  /// Equal to Device::read: chunks cover each element once, in order. If the value is partial, only
  /// rank 0 may call it, while the others wait for it (waitForRankZero). Rank 0 sends them a
  /// message that it is busy.
  void read(Device &device, const Device::Use &use) const;
  /// Reads the elements that this rank owns: all of them if the value is not partial.
  void readOwn(Device &device, const Device::Use &use) const;
  /// Reads at most `most` bytes of the own elements, from byte `begin` of them on.
  void readOwn(Device &device, int64_t begin, int64_t maximum, const Device::Use &use) const;
  /// Rank 0: reads the share of another rank, which waits for it (waitForRankZero).
  void readShare(Device &device, int64_t share, const Device::Use &use) const;
  /// Equal to Device::write: chunks cover each element that this rank stores once, in order.
  /// Returns whether these were all elements.
  bool write(Device &device, const Device::Fill &fill) const;

  /// These functions access the value and another variable, such as an average, which has the
  /// value's type; either may be divided. All ranks must call them.
  void copyFrom(Device &device, const MtcVariable &other) const;
  void copyTo(Device &device, const MtcVariable &other) const;
  /// Values are not rounded: a second exchange restores every bit.
  void exchange(Device &device, const MtcVariable &other) const;

private:
  /// Returns the whole value as one run.
  ElementRun all() const { return {0, 0, 0, bytes() / typeBytes(type())}; }
  /// Calls `use` with the runs of elements that this rank has of a value with this division.
  template <typename Use>
  void forEachOwnRun(Device &device, const Division &each, const Use &use) const;
  /// Returns the division of the elements that this rank accesses together with another variable.
  Division common(const MtcVariable &other) const;
  void readRun(Device &device, const ElementRun &run, const Device::Use &use) const;
  void writeRun(Device &device, const ElementRun &run, const Device::Fill &fill) const;
  /// Rank 0: reads bytes of another rank, from byte `begin` of its elements on.
  void receive(Device &device, int64_t share, int64_t begin, int64_t bytes,
               const Device::Use &use) const;
  /// Reads the elements [first, last) of a divided value, share by share.
  void readDivided(Device &device, int64_t first, int64_t last, const Device::Use &use) const;
  /// Gathers the shares that the ranks have written on ranks that have several of them.
  void gather(Device &device, const Division &written) const;

  const MtcProgram &program;
  const MtcVariable &variable;
  uint32_t index;
  const MtcVariable *low; ///< The lower halves; null if the value is not split.
  Division division;
};

/// Updates variables that are copies of others (MTC_COPIED). Must be called after the host wrote
/// the original variables. All ranks must call it.
void writeCopies(const MtcProgram &program, Device &device);

/// Returns whether some ranks do not have all variables: see StoredVariable::isPartial.
bool hasPartialVariables(const MtcProgram &program);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_STORED_VARIABLE_H
