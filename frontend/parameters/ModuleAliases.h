//===- ModuleAliases.h - Parameters that the module has under several names -------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_MODULEALIASES_H
#define MTC_FRONTEND_PARAMETERS_MODULEALIASES_H

#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// The further names that the user's module has for initializers, by the initializers' names; each
/// initializer has its own name already in `names`. A name is one
///   1. that `mtc.export` lists;
///   2. that a layer which reads the initializer would have for it, and that nothing else has: an
///      embedding reads `lm_head.weight`, which it calls `wte.weight`;
///   3. that the file lists and nothing reads, where one layer of its module has such a parameter:
///      `predictions.bias` beside `predictions.decoder.bias`.
llvm::StringMap<std::vector<std::string>>
findModuleAliases(GraphOp graph, const llvm::StringMap<std::string> &names);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_MODULEALIASES_H
