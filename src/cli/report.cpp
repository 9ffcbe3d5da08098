// Errors of one file in the format asked for. In: a file's front end. Out: text, ready to be written.
// The JSON has the names that ruff uses, so that what reads one reads the other.
#include "cli/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diag/characters.h"
#include "diag/locate.h"
#include "diag/render.h"

namespace graphmend {
namespace {

using Json = nlohmann::ordered_json;

Json place_object(Place place) { return {{"row", place.line}, {"column", place.column}}; }

void append_json(std::string& out, const Diagnostic& error, std::string_view path, Locator& locator) {
  const PlaceRange range = locator.locate(error.span);
  const Json object = {
      {"code", "syntax-error"},
      {"filename", path},
      {"location", place_object(range.start)},
      {"end_location", place_object(range.end)},
      {"message", error.message},
  };
  // A path or a message may quote bytes that are no UTF-8; JSON cannot hold them.
  out += ",\n  ";
  out += object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string shown_path(std::string_view path) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::none_of(path.begin(), path.end(), is_control)) return std::string(path);
  return visible(path);
}

std::string report_errors(const FrontEnd& front, std::string_view path, ReportStyle style) {
  std::string out;
  if (front.errors.empty()) return out;
  Locator locator(front.source.text);
  const std::string name = shown_path(path);
  const RenderStyle render{style.colour, style.format == OutputFormat::Text};
  for (const Diagnostic& error : front.errors) {
    if (style.format == OutputFormat::Json) {
      append_json(out, error, path, locator);
    } else {
      render_diagnostic(out, error, name, locator, render);
    }
  }
  return out;
}

}  // namespace graphmend
