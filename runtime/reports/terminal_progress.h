// Progress of a training run on standard output.
#ifndef MTC_RUNTIME_REPORTS_TERMINAL_PROGRESS_H
#define MTC_RUNTIME_REPORTS_TERMINAL_PROGRESS_H

#include "runtime/reports/progress.h"
#include "support/terminal/status_line.h"

#include <string>

namespace mtc::runtime {

/// Shows the progress bar if standard output is a terminal.
class TerminalProgress final : public ProgressOutput {
public:
  TerminalProgress();

  int columns() const override;
  void draw(const std::string &bar) override;
  void print(const std::string &line) override;
  void keep() override;

private:
  terminal::StatusLine line;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_TERMINAL_PROGRESS_H
