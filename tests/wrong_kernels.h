// SPDX-License-Identifier: MIT
//
// Wrong kernels (common/must_reject.h) and the process that runs them. A kernel that faults leaves its process of no use, so they
// run in another one; in one for all of a program, which is started again after a fault alone: on a GPU a process's start takes
// longer than most of them together.
#pragma once

#include <string>
#include <vector>

#include "common/instance.h"
#include "common/must_reject.h"

namespace days::testing_detail {

// Whether the buffers of the tests' instances share memory: as DAYS_TEST_MEMORY in the environment, own or shared, asks for. Else on a
// GPU, unless compute-sanitizer looks on, which knows allocations; the CPU backend watches each by itself. Throws
// std::invalid_argument for another word.
Instance::Memory memory_of_tests();
// `sanitizer`: NV_SANITIZER_INJECTION_PORT_BASE, which compute-sanitizer sets for the program that it runs. Both may be null.
Instance::Memory memory_for(const char* asked, const char* sanitizer, bool on_gpu);

// In the order of their registration.
std::vector<Wrong>& wrongs();
// "zeros<days::half>" of "launch<zeros<days::half>>".
std::string kernel_name(const std::string& launcher);

// What the process says of the wrong kernel of that number.
std::string output_of_wrong(size_t number);
// The line of a wrong kernel's output that says how it was rejected, or "".
std::string rejection_in(const std::string& output);

// In main(): whether this is the process of the wrong kernels, and what it does. The program's path is what starts it.
bool runs_wrong_kernels(int argc, char** argv);
[[noreturn]] void run_wrong_kernels();
// Ends that process, where there is one, and waits for it.
void end_wrong_kernels();

}  // namespace days::testing_detail
