// graphmend parse. In: paths. Out: the syntax errors of all files in order, a summary, the exit status.
// Files are read and parsed on many threads; a file's tree is dropped as soon as its report is made.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/report.h"
#include "driver/find_files.h"
#include "driver/front_end.h"
#include "driver/in_order.h"
#include "driver/read_file.h"

namespace graphmend {
namespace {

using Clock = std::chrono::steady_clock;

struct FileReport {
  std::string text;
  // Why the file could not be read.
  std::string problem;
  size_t errors = 0;
  uint64_t bytes = 0;
};

struct Totals {
  size_t files = 0;
  size_t wrong_files = 0;
  size_t unreadable = 0;
  size_t errors = 0;
  uint64_t bytes = 0;
};

std::string_view shown_name(std::string_view path) { return path == "-" ? kStandardInputName : path; }

FileReport report_file(const std::string& path, Version target, ReportStyle style) {
  FileReport report;
  try {
    FileContent content = path == "-" ? read_standard_input() : read_file(path);
    if (!content.error.empty()) {
      report.problem = std::move(content.error);
      return report;
    }
    report.bytes = content.bytes.size();
    const FrontEnd front = read_python(std::move(content.bytes), target);
    report.errors = front.errors.size();
    report.text = report_errors(front, shown_name(path), style);
  } catch (const std::bad_alloc&) {
    report.problem = "not enough memory to read it";
  }
  return report;
}

std::string counted(size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// "4.5 MB in 60 ms"
std::string amount(uint64_t bytes, Clock::duration time) {
  const auto number = [](double value, const char* unit) {
    char buffer[48];
    std::snprintf(buffer, sizeof(buffer), value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
    return std::string(buffer);
  };
  const double size = static_cast<double>(bytes);
  const double seconds = std::chrono::duration<double>(time).count();
  const std::string text = bytes < 1000      ? counted(bytes, "byte")
                           : bytes < 1000000 ? number(size / 1e3, "kB")
                                             : number(size / 1e6, "MB");
  return text + " in " + (seconds < 1 ? number(seconds * 1e3, "ms") : number(seconds, "s"));
}

std::string summary(const Totals& totals, Clock::duration time) {
  std::string line;
  if (totals.errors > 0) {
    line = counted(totals.errors, "error") + " in " + counted(totals.wrong_files, "file");
  } else if (totals.files == 1) {
    line = "1 file parses (" + amount(totals.bytes, time) + ")";
  } else {
    line = "all " + std::to_string(totals.files) + " files parse (" + amount(totals.bytes, time) + ")";
  }
  if (totals.unreadable > 0) line += "; " + counted(totals.unreadable, "path") + " could not be read";
  return line + "\n";
}

// Takes reports in order and prints them.
class Printer {
 public:
  Printer(const ParseRequest& request, Output& out, Output& err) : request_(request), out_(out), err_(err) {
    if (is_json()) out_.write("[");
  }

  void problem(std::string_view path, std::string_view reason) {
    ++totals_.unreadable;
    complain(out_, err_, shown_path(path) + ": " + std::string(reason));
  }

  void report(std::string_view path, const FileReport& report) {
    if (!report.problem.empty()) return problem(shown_name(path), report.problem);
    totals_.files += 1;
    totals_.bytes += report.bytes;
    if (report.errors == 0) return;
    std::string_view text = report.text;
    // The comma that stands before every object but the first.
    if (is_json() && totals_.errors == 0) text.remove_prefix(1);
    totals_.errors += report.errors;
    totals_.wrong_files += 1;
    out_.write(text);
    // A person watches: show it now.
    if (out_.is_terminal()) out_.flush();
  }

  int finish(Clock::duration time) {
    if (is_json()) {
      out_.write(totals_.errors > 0 ? "\n]\n" : "]\n");
    } else if (!request_.quiet && totals_.files > 0) {
      out_.write(summary(totals_, time));
    }
    if (totals_.unreadable > 0) return kExitTrouble;
    return totals_.errors > 0 ? kExitSyntaxErrors : kExitOk;
  }

 private:
  bool is_json() const { return request_.format == OutputFormat::Json; }

  const ParseRequest& request_;
  Output& out_;
  Output& err_;
  Totals totals_;
};

}  // namespace

int run_parse(const ParseRequest& request, Output& out, Output& err) {
  const Clock::time_point begin = Clock::now();
  const FoundFiles found = find_files(request.paths);
  Printer printer(request, out, err);
  for (const FileProblem& problem : found.problems) printer.problem(problem.path, problem.reason);
  if (found.paths.empty() && found.problems.empty() && !request.quiet) {
    err.write("graphmend: warning: no Python files found under the given paths\n");
  }

  const ReportStyle style{request.format, request.format != OutputFormat::Json && wants_colour(out)};
  run_in_order(
      found.paths.size(), request.jobs,
      [&](size_t index) { return report_file(found.paths[index], request.target, style); },
      [&](size_t index, const FileReport& report) {
        printer.report(found.paths[index], report);
        return out.is_open();
      });
  return printer.finish(Clock::now() - begin);
}

}  // namespace graphmend
