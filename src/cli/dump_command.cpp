// graphmend dump. In: one file. Out: its tokens, tree, ast or facts on `out`, its errors on `err`.
// A broken file still has tokens and a tree; an ast or facts of it would be a lie, so there are none.
#include <string>

#include "cli/commands.h"
#include "cli/report.h"
#include "driver/front_end.h"
#include "driver/read_file.h"
#include "facts/dump_effects.h"
#include "facts/dump_flow.h"
#include "facts/dump_scopes.h"
#include "facts/scopes.h"
#include "lex/dump_tokens.h"
#include "parse/dump_ast.h"
#include "parse/dump_tree.h"

namespace graphmend {
namespace {

std::string dump(const FrontEnd& front, DumpKind kind, Version target) {
  const std::string& text = front.source.text;
  switch (kind) {
    case DumpKind::Tokens:
      return dump_tokens(text, front.tokens);
    case DumpKind::Tree:
      return dump_tree(text, front.tokens, front.tree);
    case DumpKind::Ast:
      return front.ok() ? dump_ast(text, front.tokens, front.tree) : std::string();
    case DumpKind::Scopes:
      if (!front.ok()) return {};
      return dump_scopes(text, front.tokens, front.tree, compute_scopes(text, front.tokens, front.tree, target));
    case DumpKind::Flow:
      if (!front.ok()) return {};
      return dump_flow(text, front.tokens, front.tree, compute_scopes(text, front.tokens, front.tree, target));
    case DumpKind::Liveness:
      if (!front.ok()) return {};
      return dump_liveness(text, front.tokens, front.tree, compute_scopes(text, front.tokens, front.tree, target));
    case DumpKind::Effects:
      if (!front.ok()) return {};
      return dump_effects(text, front.tokens, front.tree, compute_scopes(text, front.tokens, front.tree, target));
  }
  return {};
}

}  // namespace

int run_dump(const DumpRequest& request, Output& out, Output& err) {
  const bool from_stdin = request.path == "-";
  const std::string path = from_stdin ? std::string(kStandardInputName) : request.path;
  FileContent content = from_stdin ? read_standard_input() : read_file(request.path);
  if (!content.error.empty()) {
    complain(out, err, shown_path(path) + ": " + content.error);
    return kExitTrouble;
  }
  const FrontEnd front = read_python(std::move(content.bytes), request.target);
  const std::string text = dump(front, request.kind, request.target);
  out.write(text);
  if (!text.empty() && text.back() != '\n') out.write("\n");
  out.flush();
  err.write(report_errors(front, path, {OutputFormat::Text, wants_colour(err)}));
  return front.ok() ? kExitOk : kExitSyntaxErrors;
}

}  // namespace graphmend
