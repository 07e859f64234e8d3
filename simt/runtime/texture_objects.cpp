// SPDX-License-Identifier: MIT
//
// The table of textures and surfaces, and accesses to surfaces.
#include <atomic>

#include "textures.h"

namespace simt {
namespace {

// A handle is a tag, how often its place was used before, and the place. Objects stay in memory, as a kernel
// may be reading one that is destroyed too early.
template <class Object>
class Table {
 public:
  explicit Table(std::uint64_t tag) : tag_(tag) {}

  std::uint64_t add(const Object& object) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::uint64_t place = free_.empty() ? used_++ : free_.back();
    if (place >= kPlaces) fail("simt-launch", "more than %zu textures or surfaces at a time", kPlaces);
    if (!free_.empty()) free_.pop_back();
    Entry& entry = entries_[place];
    delete entry.retired;
    entry.retired = nullptr;
    entry.handle = tag_ | ++entry.uses << 16 | place;
    entry.object = new Object(object);
    return entry.handle;
  }
  const Object* find(std::uint64_t handle) const {
    const Entry& entry = entries_[handle % kPlaces];
    const Object* const object = entry.object.load(std::memory_order_acquire);
    return object && entry.handle == handle ? object : nullptr;
  }
  bool remove(std::uint64_t handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!find(handle)) return false;
    Entry& entry = entries_[handle % kPlaces];
    entry.retired = entry.object.exchange(nullptr);
    free_.push_back(handle % kPlaces);
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 1 << 16;
  struct Entry {
    std::atomic<const Object*> object{nullptr};
    const Object* retired = nullptr;
    std::uint64_t handle = 0, uses = 0;
  };
  const std::uint64_t tag_;
  std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::vector<std::uint64_t> free_;
  Entry* const entries_ = new Entry[kPlaces];
};

Table<Texture>& textures() {
  static auto* const table = new Table<Texture>(std::uint64_t{0x7e} << 56);
  return *table;
}
Table<Surface>& surfaces() {
  static auto* const table = new Table<Surface>(std::uint64_t{0x5f} << 56);
  return *table;
}

}  // namespace

std::uint64_t add_texture(const Texture& texture) {
  return textures().add(texture);
}
std::uint64_t add_surface(const Surface& surface) {
  return surfaces().add(surface);
}
const Texture* find_texture(std::uint64_t handle) {
  return textures().find(handle);
}
const Surface* find_surface(std::uint64_t handle) {
  return surfaces().find(handle);
}
bool remove_texture(std::uint64_t handle) {
  return textures().remove(handle);
}
bool remove_surface(std::uint64_t handle) {
  return surfaces().remove(handle);
}

void* surface_element(cudaSurfaceObject_t handle, int x, int y, int z, std::size_t bytes,
                      cudaSurfaceBoundaryMode mode) {
  const Surface* const surface = find_surface(handle);
  if (!surface)
    fail("simt-use-after-free", "surface object %#llx does not exist (destroyed, or never created)", handle);
  const Elements& e = surface->elements;
  const int row = static_cast<int>(e.element) * e.width;
  if (x >= 0 && x % static_cast<int>(bytes) != 0)
    fail("simt-misaligned", "misaligned surface access\nx is %d bytes, and the element has %zu", x, bytes);
  const bool inside =
      x >= 0 && x + static_cast<int>(bytes) <= row && y >= 0 && y < e.height && z >= 0 && z < e.depth;
  if (!inside) {
    if (mode == cudaBoundaryModeZero) return nullptr;
    if (mode == cudaBoundaryModeTrap) {
      fail("simt-oob-global",
           "out of bounds on a surface\n"
           "The thread accesses byte %d of row %d, slice %d; the surface has %d bytes a row, %d rows, %d "
           "slices.",
           x, y, z, row, e.height, e.depth);
    }
    x = x < 0 ? 0 : x > row - static_cast<int>(bytes) ? row - static_cast<int>(bytes) : x;
    y = y < 0 ? 0 : y >= e.height ? e.height - 1 : y;
    z = z < 0 ? 0 : z >= e.depth ? e.depth - 1 : z;
  }
  return e.data + static_cast<std::size_t>(z) * e.slice + static_cast<std::size_t>(y) * e.pitch + x;
}

}  // namespace simt
