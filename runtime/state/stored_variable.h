// Values of variables, independent of their storage in the arena.
#ifndef MTC_RUNTIME_STATE_STORED_VARIABLE_H
#define MTC_RUNTIME_STATE_STORED_VARIABLE_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A variable in the form that files use. f32 elements whose halves are stored in two variables are
/// joined on reads and split on writes.
class StoredVariable {
public:
  StoredVariable(const MtcProgram &program, uint32_t index);

  /// Returns the MtcType of the value's elements.
  uint32_t type() const { return low ? uint32_t{MTC_F32} : variable.tensor.type; }
  int64_t bytes() const;
  /// Returns the tensor with the type of the value.
  MtcTensor tensor() const;

  /// Equal to Device::read and Device::write: chunks cover each element once, in order.
  void read(Device &device, const Device::Use &use) const;
  void write(Device &device, const Device::Fill &fill) const;
  /// Sets the value from an arena address, where it is stored in the value's type.
  void copyFrom(Device &device, ArenaAddress from) const;
  /// Copies the value to an arena address, in the value's type.
  void copyTo(Device &device, ArenaAddress to) const;
  /// Exchanges the value with that at an arena address, in the value's type. Exact: a second
  /// exchange restores every bit.
  void exchange(Device &device, ArenaAddress other) const;

private:
  const MtcVariable &variable;
  const MtcVariable *low = nullptr; ///< The lower halves; null if the value is not split.
};

/// Updates variables that are copies of others (MTC_COPIED). Must be called after the host wrote
/// the original variables.
void writeCopies(const MtcProgram &program, Device &device);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_STORED_VARIABLE_H
