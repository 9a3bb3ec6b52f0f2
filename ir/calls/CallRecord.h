//===- CallRecord.h - Descriptions of library calls, as attributes hold them ------------------===//
//
// A library call is described by a struct of the program's ABI without pointers or padding, its
// record. Its attribute holds that struct itself, so that what a pass reads, what the text says and
// what a program's tables hold are one thing. A kind of call names the fields once, in a function
// `visitFields(record, visit)`, from which text is printed and parsed (CallRecordText.h).
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_CALLS_CALLRECORD_H
#define MTC_IR_CALLS_CALLRECORD_H

#include "runtime/abi/attention.h"
#include "runtime/abi/contraction.h"
#include "runtime/abi/convolution.h"

#include "mlir/IR/DialectImplementation.h"

namespace mtc {

/// Prints the fields that are not 0 as `name = value`, and parses them in any order.
void printRecord(mlir::AsmPrinter &printer, const MtcContraction &record);
void printRecord(mlir::AsmPrinter &printer, const MtcConvolution &record);
void printRecord(mlir::AsmPrinter &printer, const MtcAttention &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcContraction &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcConvolution &record);
mlir::ParseResult parseRecord(mlir::AsmParser &parser, MtcAttention &record);

/// A record as a parameter of an attribute: equal where all bytes are.
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
