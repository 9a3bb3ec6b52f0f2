// Values of variables, whatever the arena stores them as.
#ifndef MTC_RUNTIME_STATE_STORED_VARIABLE_H
#define MTC_RUNTIME_STATE_STORED_VARIABLE_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// A variable as files hold it. Elements of f32 whose halves lie apart are joined when they are
/// read, and split when they are written.
class StoredVariable {
public:
  StoredVariable(const MtcProgram &program, uint32_t index);

  /// MtcType of the value's elements.
  uint32_t type() const { return low ? uint32_t{MTC_F32} : variable.tensor.type; }
  int64_t bytes() const;
  /// The tensor, of the value's type.
  MtcTensor tensor() const;

  /// As Device::read and Device::write do: in pieces, each element once, in order.
  void read(Device &device, const Device::Use &use) const;
  void write(Device &device, const Device::Fill &fill) const;
  /// Takes the value that lies at a place of an arena, in the value's type.
  void copyFrom(Device &device, ArenaAddress from) const;
  /// Gives the value to such a place.
  void copyTo(Device &device, ArenaAddress to) const;

private:
  const MtcVariable &variable;
  const MtcVariable *low = nullptr; ///< Of its halves; or null.
};

/// Gives copies the values of what they are copies of: to be called when those were written by the
/// host.
void writeCopies(const MtcProgram &program, Device &device);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_STORED_VARIABLE_H
