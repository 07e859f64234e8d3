// SPDX-License-Identifier: MIT
//
// Where the host's own memory ends: of a block of the heap, a frame of the stack, a variable of the program. A copy that runs past
// such an end overwrites whatever comes next, and the program fails later and elsewhere.
#pragma once

#include <cstddef>
#include <string>

namespace simt {

struct HostObject {
  std::size_t left = 0;  // bytes from the address to the end
  std::string what;      // "the 24 of a block on the heap (malloc, new)"
};
// Whether `bytes` bytes from p on leave the object that p lies in. False as well where nobody knows that object's end.
bool leaves_host_object(const void* p, std::size_t bytes, HostObject* object);

// What the compiler knows of the pointers of the copy that is running: bytes up to their objects' ends, ~0 where it knows nothing.
class KnownExtents {
 public:
  KnownExtents(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes);
  ~KnownExtents();
  KnownExtents(const KnownExtents&) = delete;
  KnownExtents& operator=(const KnownExtents&) = delete;
};

}  // namespace simt
