// Errors of one file in the format asked for. In: a file's front end. Out: text, ready to be written.
// Runs on any thread: what it makes is handed to the thread that prints.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "driver/front_end.h"

namespace graphmend {

struct ReportStyle {
  OutputFormat format = OutputFormat::Text;
  bool colour = false;
};

// JSON: each object begins with a comma and a line break, for the caller to drop at the very first.
std::string report_errors(const FrontEnd& front, std::string_view path, ReportStyle style);

// A path that a terminal can show: without control characters, which a file name may have.
std::string shown_path(std::string_view path);

}  // namespace graphmend
