// Values as Python's `repr` prints them. In: a str, bytes, float or complex value. Out: the text CPython 3.13 prints.
// Integers go from literal to text without a value in between: literal_number.cpp.
#pragma once

#include <string>
#include <string_view>

namespace graphmend {

// `value` as `StringValue` holds it; a byte that is no UTF-8 (a source that could not be decoded) prints as `\xNN`.
std::string str_repr(std::string_view value);
std::string bytes_repr(std::string_view value);

// Neither negative nor NaN: no literal is.
std::string float_repr(double value);
// A complex number whose real part is 0, as every imaginary literal is.
std::string imaginary_repr(double value);

}  // namespace graphmend
