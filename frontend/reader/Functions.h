//===- Functions.h - Model-local functions
//------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_FUNCTIONS_H
#define MTC_FRONTEND_READER_FUNCTIONS_H

#include "frontend/reader/Problems.h"

#include <vector>

namespace onnx {
class ModelProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// The graph's nodes with every call of a model-local function replaced by the function's nodes:
/// values inside get the call's name as a prefix, attributes that refer to the function's are given
/// its values. Functions that call themselves, directly or not, are a problem; so are more than a
/// million nodes.
std::vector<::onnx::NodeProto> inlineFunctions(const ::onnx::ModelProto &model, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_FUNCTIONS_H
