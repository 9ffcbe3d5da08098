// The words of `--help`. In: the name of a command. Out: its page.
#pragma once

#include <string_view>

namespace graphmend {

// The page of the program itself for the empty name; nothing for a command that does not exist.
std::string_view help_page(std::string_view command);

}  // namespace graphmend
