// The command `graphmend`. In: the command line. Out: what the command prints, and its exit status.
// 0 all is well, 1 syntax errors, 2 a bad command line, an unreadable file, or output that cannot be written.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <variant>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "driver/system_reason.h"

namespace graphmend {

void complain(Output& out, Output& err, std::string_view message) {
  out.flush();
  err.write("graphmend: error: ");
  err.write(message);
  err.write("\n");
  err.flush();
}

namespace {

int run(const Request& request, Output& out, Output& err) {
  if (const auto* parse = std::get_if<ParseRequest>(&request)) return run_parse(*parse, out, err);
  if (const auto* dump = std::get_if<DumpRequest>(&request)) return run_dump(*dump, out, err);
  if (const auto* python = std::get_if<PythonRequest>(&request)) return run_python(*python, out, err);
  if (const auto* text = std::get_if<TextRequest>(&request)) {
    out.write(text->text);
    return kExitOk;
  }
  complain(out, err, std::get<UsageError>(request).message);
  return kExitTrouble;
}

int run_main(const std::vector<std::string>& words) {
  // Writing to a pipe nobody reads gives EPIPE instead of a signal, see Output.
  std::signal(SIGPIPE, SIG_IGN);
  Output out(STDOUT_FILENO);
  Output err(STDERR_FILENO);
  int status = kExitTrouble;
  try {
    status = run(read_command_line(words), out, err);
  } catch (const std::bad_alloc&) {
    complain(out, err, "not enough memory");
  } catch (const std::exception& exception) {
    complain(out, err, exception.what());
  }
  out.flush();
  if (out.is_open()) return status;
  // The reader has seen enough, which is no failure.
  if (out.error_number() == EPIPE) return kExitOk;
  complain(out, err, "cannot write the output: " + system_reason(out.error_number()));
  return kExitTrouble;
}

}  // namespace
}  // namespace graphmend

int main(int argc, char** argv) {
  return graphmend::run_main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
