// Standard output of the program.
#ifndef MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H
#define MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H

namespace mtc::runtime {

/// Prints to standard output like printf. A write error does not end the run, whose results may be
/// more valuable than the output; `checkOutput` reports the error at the end.
[[gnu::format(printf, 1, 2)]] void print(const char *format, ...);
void flushOutput();

/// Discards all later output. Ranks other than 0 call it, because they would print the same text.
void silenceOutput();

/// Clears earlier write errors.
void startOutput();
/// Throws a system error if a write has failed since `startOutput`, unless the pipe was closed
/// (`program | head`).
void checkOutput();

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_STANDARD_OUTPUT_H
