//===- Remarks.cpp - What passes say of their work --------------------------------------------===//

#include "Remarks.h"

#include "Report.h"
#include "ir/NodeNames.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {

class RemarkWriter : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkWriter(std::string &text) : stream(text) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string nodes = mtc::nodeNames(remark.getLocation());
    stream << remark.getRemarkTypeString() << ' ' << remark.getCategoryName() << ' '
           << remark.getRemarkName() << " [" << nodes << "]";
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      stream << "; " << argument.key << ": " << argument.val;
    stream << '\n';
  }

private:
  llvm::raw_string_ostream stream;
};

} // namespace

void mtc::tool::collectRemarks(MLIRContext &context, std::string &text) {
  remark::RemarkCategories everything;
  everything.passed = everything.missed = everything.failed = everything.analysis = "mtc-.*";
  if (failed(remark::enableOptimizationRemarks(context, std::make_unique<RemarkWriter>(text),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                               everything)))
    fail("--remarks: remarks could not be turned on");
}
