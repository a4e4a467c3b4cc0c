/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C++20: main -> drive -> the coroutine's own function, routine() -> leaf. */
#include <coroutine>
#define noclone
#include "work.h"

struct task {
	struct promise_type {
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() noexcept
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static task routine()
{
	for (;;) {
		leaf();
		co_await std::suspend_always{};
	}
}

APART static void drive(std::coroutine_handle<> handle)
{
	handle.resume();
	AFTER_CALL();
}

int main(int, char **argv)
{
	task one = routine();

	while (is_time_left(argv))
		drive(one.handle);
	return 0;
}
