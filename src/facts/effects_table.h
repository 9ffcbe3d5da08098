// What known functions do. In: a dotted name, or the name of a method. Out: its line in effects.def.
// Only names are looked at here; who a name belongs to is the caller's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace graphmend {

struct KnownCall {
  // Bits of `effect`.
  uint16_t effects = 0;
  // Changes the object it is a method of; its arguments.
  bool writes_receiver = false;
  bool writes_arguments = false;
  // Entering and leaving it in a `with` does no more than this.
  bool is_context = false;
  // Whether it changes its first argument may be said by an argument without a name.
  bool changes_by_place = false;
};

// A builtin: `len`.
std::optional<KnownCall> known_builtin(std::string_view name);
// `torch.nn.functional.relu`, `math.sqrt`.
std::optional<KnownCall> known_function(std::string_view dotted);
// Of a tensor; `add_` follows from `add`.
std::optional<KnownCall> known_method(std::string_view name);
// Of a tensor: `shape`.
bool is_tensor_attribute(std::string_view name);
// `debug`, `info`, … of a logger.
bool is_logger_method(std::string_view name);

}  // namespace graphmend
