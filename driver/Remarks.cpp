//===- Remarks.cpp - Collection of optimization remarks ---------------------------------------===//

#include "driver/Remarks.h"

#include "driver/Report.h"
#include "ir/NodeNames.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace {

class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(mtc::tool::Remarks &remarks) : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string line;
    llvm::raw_string_ostream stream(line);
    stream << remark.getRemarkTypeString() << ' ' << remark.getCategoryName() << ' '
           << remark.getRemarkName() << " [" << mtc::nodeNames(remark.getLocation()) << "]";
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      stream << "; " << argument.key << ": " << argument.val;
    remarks.add(std::move(line));
  }

private:
  mtc::tool::Remarks &remarks;
};

} // namespace

void mtc::tool::Remarks::collectFrom(MLIRContext &context) {
  remark::RemarkCategories everything;
  everything.passed = everything.missed = everything.failed = everything.analysis = "mtc-.*";
  if (failed(remark::enableOptimizationRemarks(context, std::make_unique<RemarkCollector>(*this),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                               everything)))
    fail("--remarks: cannot enable remarks");
}

void mtc::tool::Remarks::add(std::string line) {
  std::lock_guard<std::mutex> lock(mutex);
  lines.push_back(std::move(line));
}

void mtc::tool::Remarks::print(llvm::raw_ostream &os) const {
  std::vector<std::string> sorted = lines;
  llvm::sort(sorted);
  for (const std::string &line : sorted)
    os << line << '\n';
}
