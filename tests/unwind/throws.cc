// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Exceptions through frames with destructors, caught, rethrown, and thrown in a signal handler's
// reach: the unwinder of the C++ runtime is stepped through as well.
#include <csignal>
#include <stdexcept>
#include <string>

#define marker() __asm__ volatile("int3")

volatile long sink;

struct guard {
	std::string text;

	explicit guard(long n) : text(std::to_string(n))
	{
	}
	~guard()
	{
		sink = sink + static_cast<long>(text.size());
	}
};

__attribute__((noinline)) static long thrower(int depth)
{
	guard held(depth);

	if (depth == 0)
		throw std::runtime_error("the bottom");
	return thrower(depth - 1) + static_cast<long>(held.text.size());
}

__attribute__((noinline)) static long rethrower(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::runtime_error &) {
		guard held(7);
		throw;
	}
}

static void on_signal(int number)
{
	try {
		sink = sink + thrower(number & 3);
	} catch (const std::exception &error) {
		sink = sink + static_cast<long>(std::string(error.what()).size());
	}
}

int main()
{
	std::signal(SIGUSR1, on_signal);
	marker();
	try {
		sink = sink + rethrower(3);
	} catch (...) {
		sink = sink + 1;
	}
	std::raise(SIGUSR1);
	marker();
}
