// The headers that many files of the ONNX frontend include, parsed once.
#ifndef MTC_FRONTEND_PCH_H
#define MTC_FRONTEND_PCH_H

#include "cmake/mtc_pch.h"

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"

#include "onnx-ml.pb.h"

#endif // MTC_FRONTEND_PCH_H
