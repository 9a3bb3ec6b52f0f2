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
  explicit RemarkWriter(StringRef path, std::error_code &error) : stream(path, error) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string nodes = mtc::nodeNames(remark.getLocation());
    stream << remark.getRemarkTypeString() << ' ' << remark.getCategoryName() << ' '
           << remark.getRemarkName() << " [" << nodes << "]";
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      stream << "; " << argument.key << ": " << argument.val;
    stream << '\n';
  }
  void finalize() override { stream.close(); }

private:
  llvm::raw_fd_ostream stream;
};

} // namespace

void mtc::tool::writeRemarks(MLIRContext &context, StringRef path) {
  std::error_code error;
  auto writer = std::make_unique<RemarkWriter>(path, error);
  if (error)
    fail("--remarks " + path + ": the file cannot be written: " + error.message());
  remark::RemarkCategories everything;
  everything.passed = everything.missed = everything.failed = everything.analysis = "mtc-.*";
  if (failed(remark::enableOptimizationRemarks(context, std::move(writer),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                               everything)))
    fail("--remarks " + path + ": remarks could not be turned on");
}
