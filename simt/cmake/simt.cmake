# SPDX-License-Identifier: MIT
# A toolchain file: CMake projects whose language is CUDA are built for this CPU, as they are.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/lib/cmake/simt/simt.cmake -S project -B build
#
# -DCMAKE_CUDA_FLAGS=--checked watches every access of a kernel.
get_filename_component(simt_toolkit "${CMAKE_CURRENT_LIST_DIR}/../../simt/toolkit" ABSOLUTE)
set(CMAKE_CUDA_COMPILER "${simt_toolkit}/bin/nvcc")
set(CUDAToolkit_ROOT "${simt_toolkit}")
# CMake reads this folder out of what g++ -v says of a link, which has no quotes: a name with a space is cut there.
if(simt_toolkit MATCHES " ")
  link_directories("${simt_toolkit}/lib64")
endif()
# find_package(CUDA), which older projects use.
set(CUDA_TOOLKIT_ROOT_DIR "${simt_toolkit}" CACHE PATH "simt")
unset(simt_toolkit)
