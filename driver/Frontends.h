//===- Frontends.h - The formats of models that mtc reads -------------------------------------===//

#ifndef MTC_DRIVER_FRONTENDS_H
#define MTC_DRIVER_FRONTENDS_H

#include "frontend/Frontend.h"

namespace mtc::tool {

/// Returns the frontend of ONNX, the only format.
const Frontend &getFrontend();

} // namespace mtc::tool

#endif // MTC_DRIVER_FRONTENDS_H
