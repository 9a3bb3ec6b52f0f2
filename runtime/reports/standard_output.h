// What the program prints.
#ifndef MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H
#define MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H

namespace mtc::runtime {

/// printf to the standard output. What cannot be written does not end the run, which may be worth
/// more than what it prints: `checkOutput` tells it at the end.
[[gnu::format(printf, 1, 2)]] void print(const char *format, ...);
void flushOutput();

/// Forgets what could not be written before.
void startOutput();
/// A fault of the system if something could not be written since, unless the reader has gone
/// (`program | head`).
void checkOutput();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H
