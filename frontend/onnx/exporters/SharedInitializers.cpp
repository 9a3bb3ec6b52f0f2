//===- SharedInitializers.cpp - Splitting of shared initializers ------------------------------===//
//
// PyTorch's exporters store tensors of equal values once. In the export of an untrained model, all
// norm scales and zero biases are one initializer with many users, although the module trains them
// separately.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/exporters/MergedInitializers.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_SPLITSHAREDINITIALIZERSPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Gives each part its own initializer, named after the parameter. If the exporter folded it, the
/// name is `val_N`, as the exporter would name it. If the exporter computed it, as in
/// `exp(logit_scale)`, the name is INITIALIZER@MODULE, because the parameter has other elements.
/// The part's uses are changed to the new initializer.
class Splitter {
public:
  explicit Splitter(GraphOp graph)
      : builder(graph.getContext()), provenance(graph), last(lastInitializer(graph)) {
    if (auto inner = graph->getAttrOfType<ArrayAttr>(subgraphNamesAttribute))
      for (auto name : inner.getAsRange<StringAttr>())
        names.insert(name.getValue());
    for (unsigned i = 0; i < graph.getNumArguments(); ++i)
      if (auto name = graph.getArgAttrOfType<StringAttr>(i, "onnx.name"))
        names.insert(name.getValue());
    for (Operation &op : graph.getBody().front())
      if (auto initializer = dyn_cast<InitializerOp>(op))
        names.insert(initializer.getName());
      else if (auto name = op.getAttrOfType<StringAttr>(initializerAttribute))
        names.insert(name.getValue());
      else if (auto results = op.getAttrOfType<ArrayAttr>(resultsAttribute))
        for (auto name : results.getAsRange<StringAttr>())
          names.insert(name.getValue());
  }

  void split(const MergedInitializer &merged) {
    bool isFolded = isFoldedName(InitializerOp(merged.initializer).getName());
    for (const MergedInitializer::Part &part : merged.parts) {
      if (NodeOp identity = part.identity) {
        InitializerOp copy = copyOf(merged.initializer, part.tensor);
        copy->setAttr(indexAttribute, identity->getAttr(indexAttribute));
        identity.getResult(0).replaceAllUsesWith(copy);
        identity.erase();
        continue;
      }
      const bool isComputed = !part.isConstant && provenance.isParameter(part.tensor) &&
                              !provenance.keepsValues(merged.initializer);
      std::string name = part.tensor;
      if (isComputed)
        name = (InitializerOp(merged.initializer).getName() + "@" +
                StringRef(part.tensor).rsplit('.').first)
                   .str();
      InitializerOp copy =
          copyOf(merged.initializer, freshName(isFolded ? StringRef("val_0") : StringRef(name)));
      if (part.isConstant)
        copy.setKind("CONSTANT");
      else if (isFolded || isComputed)
        copy.setModuleName(part.tensor);
      if (isComputed)
        setOrigin(copy, merged.initializer, part.tensor);
      for (OpOperand *site : part.sites)
        site->set(copy);
    }
  }

private:
  /// Records that a copy was computed like the original, from another parameter.
  void setOrigin(InitializerOp copy, InitializerOp original, StringRef parameter) {
    SmallVector<StringRef> origins;
    for (StringRef origin :
         original->getAttrOfType<ArrayAttr>(foldedFromAttribute).getAsValueRange<StringAttr>())
      origins.push_back(provenance.isParameter(origin) ? parameter : origin);
    copy->setAttr(foldedFromAttribute, builder.getStrArrayAttr(origins));
  }

  InitializerOp copyOf(InitializerOp original, StringRef name) {
    builder.setInsertionPointAfter(last);
    auto copy = cast<InitializerOp>(builder.clone(*original));
    last = copy;
    copy->setLoc(NameLoc::get(builder.getStringAttr(name)));
    copy.setName(name);
    copy.setSplitFrom(original.getSource());
    copy.removeKindAttr();
    for (StringRef attribute : {foldedFromAttribute, aliasesAttribute})
      copy->removeAttr(attribute);
    return copy;
  }

  /// Returns NAME or the first unused name of NAME.2, NAME.3, …; for folded names, the first of
  /// val_1, val_2, ….
  std::string freshName(StringRef name) {
    std::string stem = isFoldedName(name) ? "val_" : (name + ".").str(), result = name.str();
    for (size_t i = stem == "val_" ? 1 : 2; !names.insert(result).second; ++i)
      result = stem + std::to_string(i);
    return result;
  }

  OpBuilder builder;
  Provenance provenance;
  InitializerOp last;
  llvm::StringSet<> names;
};

/// Returns a description such as
/// `initializer 'NAME' stands for 5 parameters (a, b, c, d and 1 more)`.
std::string describe(const MergedInitializer &merged, const InitializerClass &known) {
  constexpr size_t shown = 4;
  std::string name = InitializerOp(merged.initializer).getName().str();
  std::string list = known.moduleName.empty() ? name : known.moduleName;
  for (const MergedInitializer::Part &part : ArrayRef(merged.parts).take_front(shown - 1))
    list += ", " + part.tensor;
  size_t count = merged.parts.size() + 1;
  if (count > shown)
    list += " and " + std::to_string(count - shown) + " more";
  return "initializer " + quoted(name) + ": merges " + std::to_string(count) + " parameters (" +
         list + ")";
}

struct SplitSharedInitializersPass
    : impl::SplitSharedInitializersPassBase<SplitSharedInitializersPass> {
  using SplitSharedInitializersPassBase::SplitSharedInitializersPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    StringMap<InitializerClass> classes = classifyInitializers(graph);
    TieChoices choices{{}, {untie.begin(), untie.end()}, false};
    const MergedInitializers found = findMergedInitializers(graph, classes, policy, choices);
    for (const std::string &note : found.notes)
      emitRemark(UnknownLoc::get(&getContext()), note);
    Splitter splitter(graph);
    for (const MergedInitializer &merged : found.initializers) {
      InitializerOp initializer = merged.initializer;
      bool isLeft = merged.mayBeTied && policy == SharedInitializerPolicy::Auto;
      if (!isLeft)
        splitter.split(merged);
      const InitializerClass &known = classes.find(initializer.getName())->second;
      if (!known.isParameter && known.role != InitializerRole::State)
        continue; // Not trained unless the user names it.
      report(describe(merged, known), isLeft);
    }
  }

private:
  /// Reports on the model as a whole, in terms of mtc's command-line flags.
  void report(StringRef text, bool isLeft) {
    auto unknown = UnknownLoc::get(&getContext());
    if (isLeft)
      emitWarning(unknown, text) << "; trained as one weight, because the module may tie them. Use "
                                    "--shared-initializers split to train them separately, or "
                                    "--shared-initializers keep to silence this warning";
    else
      emitRemark(unknown, text) << " that were equal when exported; trained separately. Use "
                                   "--shared-initializers keep to train them as one weight";
  }
};

} // namespace
} // namespace mtc::onnx
