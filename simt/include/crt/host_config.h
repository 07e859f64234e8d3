// SPDX-License-Identifier: MIT
//
// Nothing to check: any C++20 compiler will do.
#pragma once
