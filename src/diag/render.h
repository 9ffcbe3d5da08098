// Diagnostics as text. In: a diagnostic, its text and the path to name. Out: what a person reads, appended to a string.
// `path:line:column: error: message`, then the source line with carets below the range. Nothing is printed here.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "diag/locate.h"

namespace graphmend {

struct RenderStyle {
  bool colour = false;
  // Without it, one line for each diagnostic.
  bool snippet = true;
};

void render_diagnostic(std::string& out, const Diagnostic& diagnostic, std::string_view path, Locator& locator,
                       RenderStyle style);

}  // namespace graphmend
