//===- TiedInitializers.cpp - Merging of tied initializers ------------------------------------===//

#include "frontend/onnx/parameters/Ties.h"

#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/TrainableConstants.h"
#include "ir/attributes/TensorImage.h"
#include "support/compiler/Lists.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_TIEINITIALIZERSPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

ArrayRef<int64_t> shapeOf(InitializerOp initializer) {
  return cast<RankedTensorType>(initializer->getResult(0).getType()).getShape();
}

/// Returns the value of the kept initializer in the form in which the users of its copy expect it:
/// unchanged, transposed or reshaped.
Value readAs(OpBuilder &builder, const Tie &tie) {
  InitializerOp kept = tie.kept, copy = tie.copy;
  if (tie.form == TieForm::Same)
    return kept;
  auto node = [&](StringRef op, int64_t version, ValueRange inputs, DictionaryAttr attributes) {
    return NodeOp::create(builder, copy.getLoc(), copy.getResult().getType(),
                          builder.getStringAttr(op), builder.getI64IntegerAttr(version),
                          /*domain=*/nullptr, attributes, inputs)
        .getResult(0);
  };
  if (tie.form == TieForm::Transposed)
    return node("Transpose", 13, kept.getResult(),
                builder.getDictionaryAttr(
                    builder.getNamedAttr("perm", builder.getDenseI64ArrayAttr({1, 0}))));
  auto type = RankedTensorType::get(static_cast<int64_t>(shapeOf(copy).size()),
                                    builder.getIntegerType(64, /*isSigned=*/true));
  SmallVector<APInt> extents;
  for (int64_t extent : shapeOf(copy))
    extents.emplace_back(64, extent, /*isSigned=*/true);
  auto shape =
      ConstantOp::create(builder, copy.getLoc(), type, DenseElementsAttr::get(type, extents));
  return node("Reshape", 14, {kept.getResult(), shape.getResult()}, builder.getDictionaryAttr({}));
}

/// Describes the copy as an image of the kept initializer.
TensorImageAttr imageOf(const Tie &tie) {
  InitializerOp kept = tie.kept, copy = tie.copy;
  MLIRContext *context = copy.getContext();
  return tie.form == TieForm::Transposed
             ? TensorImageAttr::transposed(context, copy.getName(), shapeOf(kept), {1, 0})
             : TensorImageAttr::whole(context, copy.getName(), shapeOf(copy));
}

struct TieInitializersPass : impl::TieInitializersPassBase<TieInitializersPass> {
  using TieInitializersPassBase::TieInitializersPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    Problems problems;
    TieChoices choices{.ties = {},
                       .unties = {untie.begin(), untie.end()},
                       .equal = llvm::is_contained(tie, equalTies),
                       .explicitOnly = adapters};
    for (const std::string &text : tie)
      if (text != equalTies)
        choices.ties.push_back(splitTie(text, graph, problems));
    llvm::StringMap<InitializerClass> classes = classifyInitializers(graph);
    Ties found = findTies(graph, classes, choices, problems);
    auto unknown = UnknownLoc::get(&getContext()); // The messages concern the whole model.
    for (auto [kept, copy] : found.open) {
      std::string a = InitializerOp(kept).getName().str(), b = InitializerOp(copy).getName().str();
      problems.add("initializers " + quoted(a) + " and " + quoted(b) +
                   ": equal elements, and the file does not specify whether they are one weight. "
                   "Use --tie " +
                   a + "=" + b + " to train them as one weight, or --untie " + b +
                   " to train them separately");
    }
    for (const std::string &text : found.warnings)
      emitWarning(unknown, text);
    noteSeparate(found);
    if (choices.equal)
      noteEqual(found);
    for (const Tie &each : found.ties)
      apply(each);
    for (const std::string &problem : problems.get())
      emitError(unknown, problem);
    if (!problems.empty())
      signalPassFailure();
  }

private:
  /// The value of `--tie` that ties all parameters with equal elements.
  static constexpr StringRef equalTies = "equal";

  /// Notes the parameters that `--tie equal` ties, or warns if there are none.
  void noteEqual(const Ties &found) {
    auto unknown = UnknownLoc::get(&getContext()); // The messages concern the whole model.
    SmallVector<Tie> ties = llvm::to_vector(
        llvm::make_filter_range(found.ties, [](const Tie &tie) { return tie.reason.empty(); }));
    if (ties.empty())
      emitWarning(unknown) << "--tie equal: the file has no other parameters with equal values";
    else
      emitRemark(unknown) << "--tie equal: trained as one weight each: "
                          << listed(ties,
                                    [](const Tie &tie) {
                                      return quoted(InitializerOp(tie.kept).getName()) + " = " +
                                             quoted(InitializerOp(tie.copy).getName()) +
                                             (tie.form == TieForm::Transposed ? " (transposed)"
                                                                              : "");
                                    })
                          << "; use --untie NAME to train one separately";
  }

  /// Notes the equal parameters that are trained separately.
  void noteSeparate(const Ties &found) {
    auto unknown = UnknownLoc::get(&getContext()); // The notes concern the whole model.
    if (!found.separate.empty())
      emitRemark(unknown)
          << found.separate.size()
          << (found.separate.size() == 1 ? " parameter equals another one: "
                                         : " parameters equal others: ")
          << listed(found.separate,
                    [](auto pair) {
                      auto [kept, copy] = pair;
                      return quoted(InitializerOp(copy).getName()) + " = " +
                             quoted(InitializerOp(kept).getName());
                    })
          << "; trained separately, as copies of a layer are. Use --tie equal to train equal "
             "parameters as one weight";
    if (!found.ofOneValue.empty())
      emitRemark(unknown) << "--tie equal: not tied, because parameters of one value, such as "
                             "zeros, may be equal by chance: "
                          << listed(found.ofOneValue,
                                    [](InitializerOp each) { return quoted(each.getName()); })
                          << "; use --tie A=B to tie them";
  }

  /// Splits `A=B`. Names may contain `=`. If both sides name initializers for several positions of
  /// `=`, the last position is chosen.
  static std::pair<std::string, std::string> splitTie(StringRef text, GraphOp graph,
                                                      Problems &problems) {
    llvm::StringSet<> names;
    for (InitializerOp initializer : trainableInitializers(graph))
      names.insert(initializer.getName());
    size_t end = text.find('=');
    if (end == StringRef::npos || end == 0 || end + 1 == text.size())
      problems.add("--tie " + text + ": expected A=B, two parameter names, or equal");
    for (size_t at = end; at != StringRef::npos; at = text.find('=', at + 1))
      if (names.contains(text.take_front(at)) && names.contains(text.drop_front(at + 1)))
        end = at;
    return {text.take_front(end).str(),
            end == StringRef::npos ? "" : text.drop_front(end + 1).str()};
  }

  void apply(const Tie &tie) {
    InitializerOp kept = tie.kept, copy = tie.copy;
    OpBuilder builder(copy);
    builder.setInsertionPointAfter(lastInitializer(getOperation()));
    copy.getResult().replaceAllUsesWith(readAs(builder, tie));
    SmallVector<Attribute> images;
    if (auto known = kept.getFileImagesAttr())
      images.append(known.begin(), known.end());
    // Initializers created by splitting are not in the file.
    if (!copy.getSplitFrom())
      images.push_back(imageOf(tie));
    if (!images.empty())
      kept.setFileImagesAttr(builder.getArrayAttr(images));
    if (!tie.reason.empty())
      emitRemark(UnknownLoc::get(&getContext()))
          << "initializers " << quoted(kept.getName()) << " and " << quoted(copy.getName())
          << " are one weight" << (tie.form == TieForm::Transposed ? ", one transposed" : "")
          << " (" << tie.reason << "); use --untie " << copy.getName()
          << " to train them separately";
    copy.erase();
  }
};

} // namespace
} // namespace mtc::onnx
