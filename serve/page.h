// SPDX-License-Identifier: MIT
//
// The page that a browser gets: one file, which speaks to the server's own endpoints.
#pragma once

#include <string_view>

namespace serve {

extern const std::string_view kPage;

}  // namespace serve
