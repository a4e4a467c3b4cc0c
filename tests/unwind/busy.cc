// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Works for a second in all the ways in which a C++ program makes frames: exceptions through
// destructors, signals (on a stack of their own, and thrown and caught in there), sorting and
// hashing through templates, deep recursion, threads.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <thread>
#include <unordered_map>
#include <vector>

static volatile long sink;

struct guard {
	std::string text;

	explicit guard(long n) : text(std::to_string(n) + " is held")
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

static long catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::exception &error) {
		return static_cast<long>(std::strlen(error.what()));
	}
}

static long sorts(unsigned seed)
{
	std::vector<std::string> words;
	std::unordered_map<std::string, long> counts;

	for (unsigned i = 0; i < 2000; i++)
		words.push_back(std::to_string((seed + i * 7919U) % 1009U));
	std::sort(words.begin(), words.end(), std::greater<std::string>());
	for (const auto &word : words)
		counts[word]++;
	return static_cast<long>(counts.size());
}

static long recurses(int depth, const std::function<long(int)> &at_end)
{
	if (depth == 0)
		return at_end(3);
	return recurses(depth - 1, [&](int n) { return at_end(n) + depth; }) + 1;
}

// What throws allocates, which may be what the signal interrupted.
static thread_local volatile bool may_throw;

static void on_timer(int)
{
	if (may_throw)
		sink = sink + catcher(5);
	for (int i = 0; i < 400000; i++)
		sink = sink + i;
}

static void signals_begin()
{
	static char memory[1 << 16];
	stack_t stack{};
	struct sigaction action {
	};
	itimerval interval{{0, 2000}, {0, 2000}};

	stack.ss_sp = memory;
	stack.ss_size = sizeof(memory);
	sigaltstack(&stack, nullptr);
	action.sa_handler = on_timer;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGVTALRM, &action, nullptr);
	setitimer(ITIMER_VIRTUAL, &interval, nullptr);
}

__attribute__((noinline)) static void turns()
{
	may_throw = true;
	for (int i = 0; i < 400000; i++)
		sink = sink + i;
	may_throw = false;
}

static void work(unsigned seed)
{
	for (int i = 0; i < 20; i++) {
		for (int n = 0; n < 30; n++)
			sink = sink + catcher(static_cast<int>(seed % 20));
		sink = sink + sorts(seed + i);
		sink = sink + recurses(40, [](int n) { return n * 2L; });
		turns();
	}
}

int main()
{
	signals_begin();
	for (unsigned i = 0; i < 20; i++) {
		std::thread other(work, i);

		work(i);
		other.join();
	}
}
