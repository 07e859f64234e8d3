// SPDX-License-Identifier: MIT
#pragma once

#include "../host_defines.h"
