// Subscripts in what speculate looks at.
#pragma once

#include "mend/speculated.h"

namespace graphmend {

// Bounds of slices as `index(site, bound)`; of elements by masks and tensors, where `elements` are asked for,
// `subscript(site, container, key)`.
void speculate_subscript(SpeculatedParts& parts, NodeId id, bool elements);

}  // namespace graphmend
