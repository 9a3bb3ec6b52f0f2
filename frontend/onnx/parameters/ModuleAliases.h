//===- ModuleAliases.h - Further names of the module's parameters -----------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_MODULEALIASES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_MODULEALIASES_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// Returns the further names of initializers in the user's module, by initializer name. `names`
/// maps each initializer to its main name. A further name is
///   1. a name that mtc.export lists;
///   2. the name that a layer using the initializer would have for its own parameter, if no other
///      tensor has this name: an embedding `wte` uses `lm_head.weight`, so the name is
///      `wte.weight`;
///   3. a listed name that no node uses, if exactly one direct submodule has a parameter with the
///      same last name: `predictions.bias` is a further name of `predictions.decoder.bias`.
llvm::StringMap<std::vector<std::string>>
findModuleAliases(GraphOp graph, const llvm::StringMap<std::string> &names);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_MODULEALIASES_H
