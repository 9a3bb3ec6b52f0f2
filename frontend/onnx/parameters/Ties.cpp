//===- Ties.cpp - Detection of tied initializers ----------------------------------------------===//

#include "frontend/onnx/parameters/Ties.h"

#include "frontend/onnx/dialect/FxValues.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/RenamedParameters.h"
#include "support/terminal/suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

ArrayRef<int64_t> shapeOf(InitializerOp initializer) {
  return cast<RankedTensorType>(initializer->getResult(0).getType()).getShape();
}

StringRef digestOf(InitializerOp initializer, StringRef attribute) {
  auto digest = initializer->getAttrOfType<StringAttr>(attribute);
  return digest ? digest.getValue() : StringRef();
}

/// Returns whether all elements of both initializers have one value.
bool haveOneValue(InitializerOp a, InitializerOp b) {
  auto first = a->getAttrOfType<DenseElementsAttr>(oneValueAttribute),
       second = b->getAttrOfType<DenseElementsAttr>(oneValueAttribute);
  return first && second && first.getSplatValue<Attribute>() == second.getSplatValue<Attribute>();
}

/// Returns the relation of a copy's elements to those of another initializer, or nullopt if the
/// elements differ, are all the same or are unknown.
std::optional<TieForm> formOf(InitializerOp kept, InitializerOp copy) {
  StringRef elements = digestOf(kept, digestAttribute);
  if (elements.empty() ||
      getElementTypeOrSelf(kept.getType()) != getElementTypeOrSelf(copy.getType()))
    return std::nullopt;
  if (elements == digestOf(copy, digestAttribute))
    return shapeOf(kept) == shapeOf(copy) ? TieForm::Same : TieForm::Reshaped;
  if (elements == digestOf(copy, transposedDigestAttribute))
    return TieForm::Transposed;
  return std::nullopt;
}

/// Returns the relation that the shapes allow, for initializers whose elements do not determine it.
std::optional<TieForm> formOfShapes(InitializerOp kept, InitializerOp copy, bool isFolded) {
  ArrayRef<int64_t> a = shapeOf(kept), b = shapeOf(copy);
  if (getElementTypeOrSelf(kept.getType()) != getElementTypeOrSelf(copy.getType()))
    return std::nullopt;
  bool isReversed = a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
  if (isReversed && (isFolded || a != b))
    return TieForm::Transposed;
  return a == b ? std::optional(TieForm::Same) : std::nullopt;
}

std::string elementTypeText(InitializerOp initializer) {
  std::string text;
  llvm::raw_string_ostream(text) << getElementTypeOrSelf(initializer.getType());
  return text;
}

/// Finds ties between initializers; see findTies.
class TieFinder {
public:
  TieFinder(GraphOp graph, const StringMap<InitializerClass> &classes, const TieChoices &choices,
            Problems &problems)
      : graph(graph), classes(classes), choices(choices), problems(problems), provenance(graph),
        uses(initializerUses(graph)) {
    for (InitializerOp initializer : trainableInitializers(graph))
      if (auto known = classes.find(initializer.getName()); known != classes.end() &&
                                                            known->second.isParameter &&
                                                            uses.contains(initializer.getName()))
        parameters.push_back(initializer);
  }

  Ties run() {
    applyChoices();
    if (hasSignature(graph) && !choices.explicitOnly) {
      findByName();
      findUnnamedCopies();
      findRenamedCopies();
    }
    if (choices.equal)
      findEqual();
    else if (!hasSignature(graph) && !choices.explicitOnly)
      findByValue();
    return std::move(result);
  }

private:
  StringRef moduleName(InitializerOp initializer) const {
    const InitializerClass &known = classes.find(initializer.getName())->second;
    return known.moduleName.empty() ? initializer.getName() : StringRef(known.moduleName);
  }

  bool isUntied(InitializerOp initializer) const {
    return mtc::onnx::isUntied(choices, initializer, classes);
  }
  bool isCopy(InitializerOp initializer) const {
    return llvm::any_of(result.ties, [&](const Tie &tie) { return tie.copy == initializer; });
  }

  InitializerOp named(StringRef name) const {
    for (InitializerOp initializer : parameters)
      if (initializer.getName() == name)
        return initializer;
    for (InitializerOp initializer : parameters)
      if (moduleName(initializer) == name)
        return initializer;
    return {};
  }

  InitializerOp find(StringRef flag, StringRef name) {
    if (InitializerOp found = named(name))
      return found;
    SmallVector<StringRef> names;
    for (InitializerOp initializer : parameters) {
      names.push_back(initializer.getName());
      if (moduleName(initializer) != initializer.getName())
        names.push_back(moduleName(initializer));
    }
    problems.add(flag + ": no parameter " + quoted(name) + terminal::suggestNames(name, names));
    return {};
  }

  void applyChoices() {
    for (const std::string &name : choices.unties)
      find("--untie " + name, name);
    for (const auto &[first, second] : choices.ties) {
      std::string flag = "--tie " + first + "=" + second;
      InitializerOp kept = find(flag, first), copy = find(flag, second);
      if (!kept || !copy)
        continue;
      if (kept == copy) {
        problems.add(flag + ": both names refer to initializer " + quoted(kept.getName()));
        continue;
      }
      if (isUntied(kept) || isUntied(copy)) {
        problems.add(flag + ": --untie also names one of the two");
        continue;
      }
      std::optional<TieForm> form = formOf(kept, copy);
      if (!form) {
        form = formOfShapes(kept, copy, /*isFolded=*/false);
        if (form && !haveOneValue(kept, copy))
          result.warnings.push_back(flag +
                                    ": the initial values differ; training starts from those of " +
                                    quoted(kept.getName()));
      }
      if (getElementTypeOrSelf(kept.getType()) != getElementTypeOrSelf(copy.getType())) {
        problems.add(flag + ": element types " + elementTypeText(kept) + " and " +
                     elementTypeText(copy) + " do not match; expected equal types");
        continue;
      }
      if (!form) {
        problems.add(flag + ": shapes " + shapeText(shapeOf(kept)) + " and " +
                     shapeText(shapeOf(copy)) +
                     " do not match; expected equal shapes, or a matrix and its transpose");
        continue;
      }
      add(kept, copy, *form, "--tie");
    }
  }

  void add(InitializerOp kept, InitializerOp copy, TieForm form, StringRef reason) {
    if (!isCopy(copy) && !isCopy(kept))
      result.ties.push_back({kept, copy, form, reason.str()});
  }

  /// Ties initializers of the same module parameter. The kept one has the parameter's name, or else
  /// is the first.
  void findByName() {
    std::vector<std::pair<std::string, std::vector<InitializerOp>>> groups;
    for (InitializerOp initializer : parameters) {
      std::string key = keyOf(initializer);
      if (key.empty() || isUntied(initializer) || isCopy(initializer))
        continue;
      auto group = llvm::find_if(groups, [&](const auto &each) { return each.first == key; });
      if (group == groups.end())
        groups.push_back({key, {initializer}});
      else
        group->second.push_back(initializer);
    }
    for (auto &[key, members] : groups) {
      auto own = llvm::find_if(members, [&](InitializerOp each) { return each.getName() == key; });
      InitializerOp kept = own == members.end() ? members.front() : *own;
      for (InitializerOp copy : members) {
        if (copy == kept)
          continue;
        std::optional<TieForm> form = formOf(kept, copy);
        if (!form && digestOf(copy, digestAttribute).empty() && hasMissingData(kept, copy))
          form =
              formOfShapes(kept, copy, Provenance::isFolded(copy) && !Provenance::isFolded(kept));
        if (form)
          add(kept, copy, *form, "both are the module's " + listed(key));
        else if (!isPart(kept.getName()) || !isPart(copy.getName()))
          result.warnings.push_back(
              "initializers " + quoted(kept.getName()) + " and " + quoted(copy.getName()) +
              ": folded from the module's " + listed(key) +
              " in different ways; trained separately, without the module's parameter. Export with "
              "mtc.export, or with torch.onnx.export(..., optimize=False)");
      }
    }
  }

  /// Ties folded tensors to the module's parameter with the same elements that is used in another
  /// role. onnxruntime's optimizers fold transposes of weights and drop the metadata of nodes,
  /// which would name the parameter.
  void findUnnamedCopies() {
    for (InitializerOp copy : parameters) {
      if (!isFoldedName(copy.getName()) || !keyOf(copy).empty() || isUntied(copy) || isCopy(copy) ||
          digestOf(copy, digestAttribute).empty())
        continue;
      for (InitializerOp kept : parameters) {
        if (!provenance.isParameter(kept.getName()) || isUntied(kept) || isCopy(kept) ||
            haveSameRole(kept, copy))
          continue;
        if (std::optional<TieForm> form = formOf(kept, copy)) {
          add(kept, copy, *form, "equal elements, used in different roles");
          break;
        }
      }
    }
  }

  /// Ties equal initializers with generated names if there are more than parameters of their shape:
  /// onnxruntime folds the transposition of a weight in each branch of an If.
  void findRenamedCopies() {
    for (const RenamedParameters &group : findRenamedParameters(graph, classes)) {
      if (!group.hasCopies())
        continue;
      for (auto [i, copy] : llvm::enumerate(group.initializers)) {
        if (digestOf(copy, digestAttribute).empty() || isUntied(copy) || isCopy(copy))
          continue;
        for (InitializerOp kept : ArrayRef(group.initializers).take_front(i)) {
          std::optional<TieForm> form =
              isUntied(kept) || isCopy(kept) ? std::nullopt : formOf(kept, copy);
          if (!form)
            continue;
          add(kept, copy, *form, "the module has one parameter of these elements");
          break;
        }
      }
    }
  }

  /// Returns the names in a key of `keyOf`, for messages.
  static std::string listed(StringRef key) {
    SmallVector<StringRef> names;
    key.split(names, '\n');
    if (names.size() > 1)
      names.pop_back(); // The last line is the digest.
    return llvm::join(llvm::map_range(names, quoted), ", ");
  }

  /// Returns the module's parameter that an initializer represents. For an initializer folded from
  /// several parameters, the key is their names and the digest of its elements.
  std::string keyOf(InitializerOp initializer) const {
    StringRef name = initializer.getName(), split = Provenance::splitName(initializer);
    if (provenance.isParameter(name))
      return name.str();
    if (!split.empty())
      return split.str();
    std::vector<std::string> folded = provenance.foldedParameters(initializer);
    if (folded.size() > 1)
      return llvm::join(folded, "\n") + "\n" + digestOf(initializer, digestAttribute).str();
    if (std::optional<std::string> tensor =
            provenance.tensorAt(initializer, uses.find(name)->second.front());
        tensor && provenance.isParameter(*tensor))
      return *tensor;
    return folded.empty() ? "" : folded.front();
  }

  static bool hasMissingData(InitializerOp a, InitializerOp b) {
    return a.getMissing() || b.getMissing();
  }

  /// Calls `judge` for each initializer that equals an earlier one, with the first equal
  /// initializer. Initializers with generated names come last, so that the kept one has the
  /// module's name.
  void forEachCopy(llvm::function_ref<void(InitializerOp, InitializerOp, TieForm)> judge) {
    std::vector<InitializerOp> candidates, generated;
    for (InitializerOp initializer : parameters)
      (isGeneratedName(initializer.getName()) ? generated : candidates).push_back(initializer);
    llvm::append_range(candidates, generated);
    for (auto [i, copy] : llvm::enumerate(candidates)) {
      if (digestOf(copy, digestAttribute).empty() || isUntied(copy) || isCopy(copy))
        continue;
      for (InitializerOp kept : ArrayRef(candidates).take_front(i)) {
        if (isUntied(kept) || isCopy(kept))
          continue;
        if (std::optional<TieForm> form = formOf(kept, copy)) {
          judge(kept, copy, *form);
          break;
        }
      }
    }
  }

  /// Ties all initializers with equal elements.
  void findEqual() {
    auto role = [&](InitializerOp each) { return classes.find(each.getName())->second.role; };
    forEachCopy([&](InitializerOp kept, InitializerOp copy, TieForm form) {
      if (role(kept) == role(copy)) // A frozen parameter stays apart from a trained one.
        add(kept, copy, form, "");
    });
    llvm::DenseSet<Attribute> known;
    for (InitializerOp initializer : parameters)
      if (Attribute elements = initializer->getAttr(oneValueAttribute);
          elements && !isUntied(initializer) && !isCopy(initializer) &&
          !known.insert(elements).second)
        result.ofOneValue.push_back(initializer);
  }

  void findByValue() {
    forEachCopy(
        [&](InitializerOp kept, InitializerOp copy, TieForm form) { judge(kept, copy, form); });
  }

  void judge(InitializerOp kept, InitializerOp copy, TieForm form) {
    if (!isGeneratedName(copy.getName())) {
      // Two names of the module are two weights, although an exporter may have named a copy.
      if (haveSameRole(kept, copy))
        result.separate.push_back({kept, copy});
      else
        result.warnings.push_back(
            "initializers " + quoted(kept.getName()) + " and " + quoted(copy.getName()) +
            ": equal elements" + (form == TieForm::Transposed ? ", one transposed" : "") +
            ", trained separately because the file names both; if they are one weight, use --tie " +
            kept.getName().str() + "=" + copy.getName().str());
      return;
    }
    if (!haveSameRole(kept, copy))
      return add(kept, copy, form, "equal elements, used in different roles");
    std::string first = moduleOf(kept), second = moduleOf(copy);
    if (!first.empty() && first == second)
      return add(kept, copy, form, "equal elements, used by module " + quoted(first));
    switch (compareModules(kept, copy, first, second)) {
    case Modules::Copies:
      return result.separate.push_back({kept, copy});
    case Modules::Different:
      return add(kept, copy, form, "equal elements, in modules whose other parameters differ");
    case Modules::Unknown:
      return result.open.push_back({kept, copy});
    }
  }

  /// Returns whether the first uses of two initializers are the same operand of the same operator.
  bool haveSameRole(InitializerOp a, InitializerOp b) const {
    InitializerUse x = uses.find(a.getName())->second.front();
    InitializerUse y = uses.find(b.getName())->second.front();
    return x.node.getOpType() == y.node.getOpType() && x.operand == y.operand;
  }

  std::string moduleOf(InitializerOp initializer) const {
    return modulePath(uses.find(initializer.getName())->second.front().node);
  }

  /// The evidence from the other parameters of two modules. Copies of a layer have equal
  /// parameters.
  enum class Modules { Copies, Different, Unknown };

  /// Compares the other parameters of the modules that use two equal initializers. Modules with a
  /// common parameter, or without parameters, are no evidence.
  Modules compareModules(InitializerOp a, InitializerOp b, StringRef first,
                         StringRef second) const {
    if (first.empty() || second.empty())
      return Modules::Unknown;
    SmallVector<InitializerOp> inFirst, inSecond;
    for (InitializerOp initializer : parameters) {
      if (initializer == a || initializer == b)
        continue;
      auto isIn = [&](StringRef module) {
        return llvm::any_of(
            uses.find(initializer.getName())->second,
            [&](const InitializerUse &use) { return modulePath(use.node) == module; });
      };
      const bool isInFirst = isIn(first), isInSecond = isIn(second);
      if (isInFirst && isInSecond)
        return Modules::Unknown;
      if (isInFirst)
        inFirst.push_back(initializer);
      if (isInSecond)
        inSecond.push_back(initializer);
    }
    if (inFirst.empty() || inSecond.empty())
      return Modules::Unknown;
    // Tensors of one value, such as zeros, may be equal or differ by chance.
    bool differ = llvm::any_of(inFirst, [&](InitializerOp own) {
      auto elements = dyn_cast_or_null<DenseElementsAttr>(own.getSampleAttr());
      return elements && !elements.isSplat() &&
             llvm::none_of(inSecond, [&](InitializerOp other) { return formOf(own, other); });
    });
    return differ ? Modules::Different : Modules::Copies;
  }

  GraphOp graph;
  const StringMap<InitializerClass> &classes;
  const TieChoices &choices;
  Problems &problems;
  Provenance provenance;
  StringMap<std::vector<InitializerUse>> uses;
  std::vector<InitializerOp> parameters; // Only those with uses.
  Ties result;
};

} // namespace

bool isUntied(const TieChoices &choices, InitializerOp initializer,
              const StringMap<InitializerClass> &classes) {
  auto known = classes.find(initializer.getName());
  return llvm::any_of(choices.unties, [&](const std::string &name) {
    return name == initializer.getName() || name == initializer.getSplitFrom().value_or("") ||
           (known != classes.end() && name == known->second.moduleName);
  });
}

Ties findTies(GraphOp graph, const StringMap<InitializerClass> &classes, const TieChoices &choices,
              Problems &problems) {
  return TieFinder(graph, classes, choices, problems).run();
}

} // namespace mtc::onnx
