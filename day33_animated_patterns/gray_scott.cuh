// SPDX-License-Identifier: MIT
// What the rungs of Gray and Scott's reaction share: the chemistry of a cell, and the torus.
#pragma once

#include "day33_animated_patterns/patterns.h"

namespace day33 {

struct Cell {
  float u, v;
};

// A cell a step later. around_u, around_v: the sums of its four neighbours.
__device__ inline Cell react(Cell here, float around_u, float around_v, float feed, float kill) {
  const float eaten = here.u * here.v * here.v;
  return {here.u + kSpreadU * (around_u - 4 * here.u) - eaten + feed * (1 - here.u),
          here.v + kSpreadV * (around_v - 4 * here.v) + eaten - (feed + kill) * here.v};
}

// Cell (x, y) a step later, of arrays in global memory. What leaves the picture on one side comes in on the other.
__device__ inline Cell react_at(const float* u, const float* v, int x, int y, int width, int height,
                                float feed, float kill) {
  const int64_t row = int64_t{y} * width, i = row + x;
  const int64_t left = row + (x > 0 ? x : width) - 1, right = row + (x + 1 < width ? x + 1 : 0);
  const int64_t above = int64_t{y > 0 ? y - 1 : height - 1} * width + x;
  const int64_t below = int64_t{y + 1 < height ? y + 1 : 0} * width + x;
  return react({u[i], v[i]}, (u[left] + u[right]) + (u[above] + u[below]),
               (v[left] + v[right]) + (v[above] + v[below]), feed, kill);
}

// i on a circle of n places, for any i.
__device__ inline int wrapped(int i, int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}

}  // namespace day33
