//===- AddAdapters.cpp - Low-rank adapters for frozen weights ---------------------------------===//
//
// Adapters are ordinary operations and parameters of the forward function, so autodiff, optimizers
// and checkpoints need no special support for them.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/ReservedNames.h"
#include "ir/attributes/TensorImage.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/adapters/AdaptableUses.h"
#include "passes/adapters/LowRank.h"
#include "passes/adapters/LowRankUpdate.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace mtc {
#define GEN_PASS_DEF_ADDADAPTERS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// A `--lora` pattern with the variables that it adapted or skipped.
struct Request {
  LowRankSpec spec;
  int64_t adapted = 0;
  SmallVector<std::string> passedOver; ///< Names and reasons of skipped variables.
};

struct AddAdaptersPass : mtc::impl::AddAdaptersBase<AddAdaptersPass> {
  using AddAdaptersBase::AddAdaptersBase;
  void runOnOperation() override;

private:
  FailureOr<SmallVector<Request>> readRequests();
  LogicalResult adapt(VariableOp base, Request &request, DropoutStreams &streams);
  LogicalResult check(VariableOp base, const AdaptableUses &found, const LowRankSpec &spec);
  FailureOr<LowRankUpdate> addAdapter(VariableOp base, int64_t axis, const LowRankSpec &spec);
  FailureOr<VariableOp> addParameter(VariableOp base, StringRef name, ArrayRef<int64_t> shape,
                                     Attribute initial);
  LogicalResult check(ArrayRef<Request> requests);
  std::string describeNoMatch(const LowRankSpec &spec);

  func::FuncOp forward;
  /// A number of variables and their elements.
  struct Count {
    int64_t variables = 0, elements = 0;

    void add(RankedTensorType type) {
      ++variables;
      elements += type.getNumElements();
    }
  };
  std::string describeTrained() const;

  int64_t weights = 0, elements = 0; ///< of adapters
  Count trained, all;                ///< parameters of the model
  SmallVector<std::string> convolved;
};

} // namespace

FailureOr<SmallVector<Request>> AddAdaptersPass::readRequests() {
  SmallVector<Request> requests;
  ProgramOp program = ProgramOp::find(getOperation());
  ArrayAttr lora = program && program.getSourceAttr() ? program.getSourceAttr().getLora() : nullptr;
  if (!lora)
    return requests;
  for (StringRef text : lora.getAsValueRange<StringAttr>()) {
    llvm::Expected<LowRankSpec> spec = LowRankSpec::parse(text);
    if (!spec)
      return emitError(UnknownLoc::get(&getContext()), "--lora ")
             << text << ": " << llvm::toString(spec.takeError());
    requests.push_back({*spec, 0, {}});
  }
  return requests;
}

/// Returns the request that applies to a variable, or null if none matches.
static Request *findRequest(MutableArrayRef<Request> requests, VariableOp variable) {
  Request *decides = nullptr;
  size_t literals = 0;
  for (Request &request : requests)
    if (std::optional<size_t> match = request.spec.findMatch(variable);
        match && *match >= literals) {
      decides = &request;
      literals = *match;
    }
  return decides;
}

/// Creates a parameter named as in PEFT: "MODULE.NAME", where MODULE is the weight's module.
FailureOr<VariableOp> AddAdaptersPass::addParameter(VariableOp base, StringRef ownName,
                                                    ArrayRef<int64_t> shape, Attribute initial) {
  StringRef module = base.getModuleName().value_or(base.getSymName());
  if (ArrayAttr images = base.getModuleImagesAttr(); images && !images.empty())
    module = cast<TensorImageAttr>(images[0]).getName();
  module.consume_back(".weight");
  std::string name = (module + "." + ownName).str();
  if (getOperation().lookupSymbol(name))
    return emitError(base.getLoc(), "--lora: the adapter of '")
           << base.getSymName() << "' would be '" << name << "', which already exists in the model";
  // Factors of 16-bit weights are f32, since optimizers do not update 16-bit elements.
  Type given = base.getTensorType().getElementType();
  Type element = given.isF64() ? given : Float32Type::get(&getContext());
  OpBuilder builder(base->getBlock(), std::next(base->getIterator()));
  return VariableOp::create(builder, base.getLoc(), Role::Parameter, name,
                            RankedTensorType::get(shape, element), initial);
}

LogicalResult AddAdaptersPass::check(VariableOp base, const AdaptableUses &found,
                                     const LowRankSpec &spec) {
  auto fail = [&]() -> InFlightDiagnostic {
    return emitError(base.getLoc(), "--lora ") << spec.text << ": '" << base.getSymName() << "' ";
  };
  if (base.getRole() == Role::Parameter)
    return fail() << "is trained itself; use --freeze for it, or omit it from --train";
  if (int64_t least = *llvm::min_element(base.getTensorType().getShape()); spec.rank > least)
    return fail() << "is " << print(base.getTensorType()) << ", whose rank is at most " << least;
  const int64_t axis = found.uses.front().axis;
  if (spec.trainsMagnitude &&
      llvm::any_of(found.uses, [&](const AdaptableUse &use) { return use.axis != axis; }))
    return fail() << "is also used transposed, for which dora is not defined; omit dora";
  return success();
}

/// Adds the parameters of the adapter and its record in the program.
FailureOr<LowRankUpdate> AddAdaptersPass::addAdapter(VariableOp base, int64_t axis,
                                                     const LowRankSpec &spec) {
  const int64_t in = base.getTensorType().getDimSize(axis),
                out = base.getTensorType().getDimSize(1 - axis);
  OpBuilder builder(&getContext());
  // Each parameter is inserted after the base, so that the last one is the first in the text.
  VariableOp magnitude;
  if (spec.trainsMagnitude) {
    FailureOr<VariableOp> added =
        addParameter(base, "lora_magnitude_vector", {out}, AdaptedNormsAttr::get(&getContext()));
    if (failed(added))
      return failure();
    magnitude = *added;
  }
  FailureOr<VariableOp> up =
      addParameter(base, "lora_B.weight", {out, spec.rank}, ZerosAttr::get(&getContext()));
  auto even = UniformAttr::get(&getContext(),
                               builder.getF64FloatAttr(1 / std::sqrt(static_cast<double>(in))));
  FailureOr<VariableOp> down = addParameter(base, "lora_A.weight", {spec.rank, in}, even);
  if (failed(up) || failed(down))
    return failure();
  builder.setInsertionPointAfter(magnitude ? magnitude : *up);
  auto symbol = [](VariableOp variable) {
    return variable ? FlatSymbolRefAttr::get(variable.getSymNameAttr()) : FlatSymbolRefAttr();
  };
  AdapterOp::create(builder, base.getLoc(), symbol(base), builder.getI64IntegerAttr(axis),
                    symbol(*down), symbol(*up), builder.getF64FloatAttr(spec.alpha),
                    spec.rankStabilized ? builder.getUnitAttr() : UnitAttr(),
                    spec.dropout > 0 ? builder.getF64FloatAttr(spec.dropout) : FloatAttr(),
                    symbol(magnitude));
  ++weights;
  elements += spec.rank * (in + out) + (magnitude ? out : 0);
  return LowRankUpdate{base, *down, *up, magnitude, axis, spec.scale(), spec.dropout};
}

LogicalResult AddAdaptersPass::adapt(VariableOp base, Request &request, DropoutStreams &streams) {
  AdaptableUses found = AdaptableUses::find(base, forward);
  if (found.isConvolved)
    convolved.push_back(base.getSymName().str());
  if (!found.reason.empty()) {
    request.passedOver.push_back(("'" + base.getSymName() + "' (" + found.reason + ")").str());
    return success();
  }
  if (failed(check(base, found, request.spec)))
    return failure();
  FailureOr<LowRankUpdate> update = addAdapter(base, found.uses.front().axis, request.spec);
  if (failed(update))
    return failure();
  update->apply(found.uses, streams);
  ++request.adapted;
  return success();
}

/// Returns why no parameter is left for a pattern, with the names or the pattern to use instead.
std::string AddAdaptersPass::describeNoMatch(const LowRankSpec &spec) {
  LowRankSpec within = spec;
  within.pattern = "*" + spec.pattern + "*";
  SmallVector<std::string> matrices;
  bool isTaken = false, isWithin = false;
  for (VariableOp variable : getOperation().getOps<VariableOp>()) {
    if (!llvm::is_contained({Role::Parameter, Role::Frozen}, variable.getRole()) ||
        variable.getTensorType().getRank() != 2)
      continue;
    matrices.push_back(("'" + namesOf(variable).back() + "'").str());
    isTaken |= spec.findMatch(variable).has_value();
    isWithin |= within.findMatch(variable).has_value();
  }
  if (isTaken)
    return "other patterns take precedence for all parameters that match";
  constexpr size_t shown = 3;
  const size_t rest = matrices.size() - std::min(shown, matrices.size());
  return "no parameter matches; expected PATTERN or PATTERN:rank=16,alpha=32 with a pattern of "
         "whole names" +
         (isWithin ? ", such as '" + within.pattern + "'"
          : matrices.empty()
              ? ", but the model has no matrices"
              : " such as " + llvm::join(ArrayRef(matrices).take_front(shown), ", ")) +
         (rest && !isWithin ? " and " + std::to_string(rest) + " more" : "");
}

/// Reports every pattern that adapts no weight as an error.
LogicalResult AddAdaptersPass::check(ArrayRef<Request> requests) {
  bool isValid = true;
  for (const Request &request : requests) {
    if (request.adapted > 0)
      continue;
    isValid = false;
    InFlightDiagnostic error = emitError(UnknownLoc::get(&getContext()), "--lora ")
                               << request.spec.text << ": ";
    if (request.passedOver.empty()) {
      error << describeNoMatch(request.spec);
      continue;
    }
    constexpr size_t shown = 3;
    ArrayRef<std::string> passedOver = request.passedOver;
    error << "adapts nothing; expected matrices used only by contractions, got "
          << llvm::join(passedOver.take_front(shown), ", ");
    if (passedOver.size() > shown)
      error << " and " << passedOver.size() - shown << " more";
  }
  return success(isValid);
}

/// Returns the numbers of adapters and of parameters that are trained.
std::string AddAdaptersPass::describeTrained() const {
  std::string text = llvm::formatv("training adapters of {0} weight{1}, {2} elements", weights,
                                   weights == 1 ? "" : "s", elements);
  if (trained.variables)
    return text + llvm::formatv(", and {0} of {1} parameters of the model, {2} of {3} elements",
                                trained.variables, all.variables, trained.elements, all.elements)
                      .str();
  return text +
         llvm::formatv("; the parameters of the model, {0} elements, are frozen", all.elements)
             .str();
}

void AddAdaptersPass::runOnOperation() {
  weights = elements = 0;
  trained = all = {};
  convolved.clear();
  FailureOr<SmallVector<Request>> requests = readRequests();
  if (failed(requests))
    return signalPassFailure();
  if (requests->empty())
    return;
  forward = getOperation().lookupSymbol<func::FuncOp>(forwardName);
  if (!forward) {
    emitError(getOperation().getLoc(), "the module has no function @forward to add adapters to");
    return signalPassFailure();
  }
  DropoutStreams streams(getOperation());
  for (auto variable : llvm::to_vector(getOperation().getOps<VariableOp>())) {
    if (!llvm::is_contained({Role::Parameter, Role::Frozen}, variable.getRole()))
      continue;
    all.add(variable.getTensorType());
    if (variable.getRole() == Role::Parameter)
      trained.add(variable.getTensorType());
    if (Request *request = findRequest(*requests, variable);
        request && failed(adapt(variable, *request, streams)))
      return signalPassFailure();
  }
  if (failed(check(*requests)))
    return signalPassFailure();
  Location everywhere = UnknownLoc::get(&getContext());
  emitRemark(everywhere, describeTrained());
  if (!convolved.empty())
    emitWarning(everywhere, "--lora: convolution weights are not adapted and stay frozen: ")
        << llvm::join(convolved, ", ");
}
