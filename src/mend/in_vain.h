// Code that is evaluated though Python may not come to it. In: expressions, statements. Out: what has to hold for that.
// Names alone say that `a.add(b)` is a tensor's method; whether it is, is asked while the function is traced.
#pragma once

#include <set>
#include <string>

#include "mend/context.h"
#include "mend/function_facts.h"

namespace graphmend {

// What code works on, as Python writes it: names that it has from outside, with the attributes that it reads of them:
// "x,", "self, 'scale'".
using WorkedOn = std::set<std::string>;

// `own` are variables of the function that hold something else by the time they are read.
WorkedOn worked_on(const MendContext& context, const ModuleFacts& facts, NodeId code,
                   const std::set<SymbolId>& own = {});

// Whether nothing but a value comes of it, and all that it works on shows: no function of this module that it calls
// works on more than it is given.
bool is_pure(const MendContext& context, const ModuleFacts& facts, NodeId code);

// The test that all of it is tensors or plain values, to stand behind another one; nothing if there is nothing to ask.
std::string and_is_plain(const std::string& site, const WorkedOn& worked);

// The test for an expression that stands as it was written: nothing is traced, or not all of it is plain.
std::string not_traced(const std::string& site, const WorkedOn& worked);

}  // namespace graphmend
