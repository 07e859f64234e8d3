// SPDX-License-Identifier: MIT
//
// What a program of the course tells the one that started it: what it does now, and that it came to its end.
// A kernel's file may crash the program or call exit(0), and then its exit code and the results so far say
// nothing about the rest. ./days believes a program only after its last word.
//
// The words go, a line each, to the pipe whose descriptor stands in the environment's DAYS_PROGRESS: "begin",
// "at WHAT" before each step, "end CODE". Without DAYS_PROGRESS nothing is written.
#pragma once

#include <string>

namespace days {

// The program has begun; from now on exit() before progress_end() is an error, which is printed, and code 1.
void progress_begin();

// It begins with `what`: one line, "exercise, 4096 x 33".
void progress_at(const std::string& what);

// False in a process that a kernel's file forked: it has nothing to tell.
bool progress_is_ours();

// It is through. Returns the code, with which main() ends.
int progress_end(int code);

}  // namespace days
