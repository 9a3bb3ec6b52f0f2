// --export: the model with its trained weights.
#ifndef MTC_RUNTIME_EXPORT_MODEL_H
#define MTC_RUNTIME_EXPORT_MODEL_H

#include "runtime/device.h"

#include <string>

namespace mtc::runtime {

/// Writes the model that the program was compiled from, with the values that its variables have
/// now. Durable.
void exportModel(const MtcProgram &program, Device &device, const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_EXPORT_MODEL_H
