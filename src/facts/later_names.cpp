// Identifiers as CPython compares them. In: text, name tokens. Out: mangled names.
#include "facts/later_names.h"

namespace graphmend {

std::string_view NameTexts::mangle(std::string_view name, TokenId class_name) {
  if (!class_name || !name.starts_with("__") || name.ends_with("__")) return name;
  std::string_view in_class = plain(class_name);
  size_t underscores = in_class.find_first_not_of('_');
  // A class named by underscores alone mangles nothing.
  if (underscores == std::string_view::npos) return name;
  std::string mangled = "_";
  mangled += in_class.substr(underscores);
  mangled += name;
  return keep(std::move(mangled));
}

}  // namespace graphmend
