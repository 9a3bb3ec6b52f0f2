//===- Frontends.cpp - The formats of models that mtc reads -----------------------------------===//

#include "driver/Frontends.h"

#include "frontend/onnx/OnnxFrontend.h"

const mtc::Frontend &mtc::tool::getFrontend() { return onnx::getFrontend(); }
