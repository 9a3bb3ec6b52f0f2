// The headers that many files of the ONNX frontend include, parsed once.
#ifndef MTC_FRONTEND_PCH_H
#define MTC_FRONTEND_PCH_H

#include "cmake/mtc_pch.h"

#include "frontend/dialect/Node.h"
#include "frontend/dialect/Onnx.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/support/Conversion.h"

#include "onnx-ml.pb.h"

#endif // MTC_FRONTEND_PCH_H
