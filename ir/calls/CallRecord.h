//===- CallRecord.h - Records of library calls as attribute parameters ------------------------===//
//
// A library call is described by a record: a struct of the program's ABI without pointers or
// padding. The call's attribute stores the struct itself, so that passes, the textual form and the
// program's tables use the same data. Each kind of call enumerates its fields once, in a function
// `visitFields(record, visit)`, which printing and parsing use (CallRecordText.h).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_CALLS_CALLRECORD_H
#define MTC_IR_CALLS_CALLRECORD_H

#include "runtime/abi/attention.h"
#include "runtime/abi/contraction.h"
#include "runtime/abi/convolution.h"
#include "runtime/abi/recurrence.h"

#include "mlir/IR/DialectImplementation.h"

namespace mtc {

/// Print the nonzero fields as `name = value`, and parse them in any order.
void printRecord(mlir::AsmPrinter &printer, const MtcContraction &record);
void printRecord(mlir::AsmPrinter &printer, const MtcConvolution &record);
void printRecord(mlir::AsmPrinter &printer, const MtcAttention &record);
void printRecord(mlir::AsmPrinter &printer, const MtcRecurrence &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcContraction &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcConvolution &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcAttention &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcRecurrence &record);

/// A record as a parameter of an attribute. Records are equal if all bytes are equal.
template <typename Record> class CallRecord {
public:
  CallRecord(const Record &record) : record(record) {}

  const Record *operator->() const { return &record; }
  const Record &operator*() const { return record; }
  llvm::StringRef getBytes() const {
    return {reinterpret_cast<const char *>(&record), sizeof(Record)};
  }
  bool operator==(const CallRecord &other) const { return getBytes() == other.getBytes(); }

private:
  Record record;
};

template <typename Record> llvm::hash_code hash_value(const CallRecord<Record> &record) {
  return llvm::hash_value(record.getBytes());
}

template <typename Record>
mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer, const CallRecord<Record> &record) {
  printRecord(printer, *record);
  return printer;
}

} // namespace mtc

template <typename Record> struct mlir::FieldParser<mtc::CallRecord<Record>> {
  static mlir::FailureOr<mtc::CallRecord<Record>> parse(mlir::AsmParser &parser) {
    Record record = {};
    if (failed(mtc::parseRecord(parser, record)))
      return failure();
    return mtc::CallRecord<Record>(record);
  }
};

#endif // MTC_IR_CALLS_CALLRECORD_H
