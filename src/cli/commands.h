// The commands. In: a request. Out: what the user sees, and the exit status.
#pragma once

#include <string_view>

#include "cli/command_line.h"
#include "cli/output.h"

namespace graphmend {

inline constexpr int kExitOk = 0;
inline constexpr int kExitSyntaxErrors = 1;
inline constexpr int kExitTrouble = 2;

// How messages and reports call standard input.
inline constexpr std::string_view kStandardInputName = "<stdin>";

int run_parse(const ParseRequest& request, Output& out, Output& err);
int run_dump(const DumpRequest& request, Output& out, Output& err);
// Comes back only when there is no Python.
int run_python(const PythonRequest& request, Output& out, Output& err);

// One line on standard error, after everything that was printed before it.
void complain(Output& out, Output& err, std::string_view message);

}  // namespace graphmend
