// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Runs functions whose callers are known by this source in virtual threads (OpenJDK 21 and later), for so many rounds. Each round suspends
// its thread in the innermost call of a recursion: when the thread goes on, only its innermost frames are on the stack, and the others follow
// as functions return. Compiled by older compilers, too.
import java.util.concurrent.locks.LockSupport;

public class JavaVirtual {
	static volatile long sink;

	static long burn(int work) {
		long sum = 0;
		for (int i = 0; i < work; i++) {
			sum = sum * 31 + i;
			sum ^= sum >>> 7;
		}
		return sum;
	}

	static long work_of_plain(int work) {
		return burn(work) + 1;
	}

	static long work_of_resumed(int work) {
		return burn(work) + 2;
	}

	static long work_of_returned(int work) {
		return burn(work) + 3;
	}

	static long plain(int work) {
		return work_of_plain(work) + 1;
	}

	static long recurse(int depth, int work) {
		if (depth == 0) {
			LockSupport.parkNanos(10000);
			return work_of_resumed(work);
		}
		long sum = recurse(depth - 1, work);
		return sum + work_of_returned(work);
	}

	static void run(int rounds) {
		sink += plain(2000000); // before the thread is suspended
		for (int i = 0; i < rounds; i++) {
			sink += plain(20000);
			sink += recurse(12, 20000);
		}
	}

	public static void main(String[] arguments) throws Exception {
		int rounds = Integer.parseInt(arguments[0]);
		Thread[] threads = new Thread[2];
		for (int i = 0; i < threads.length; i++)
			threads[i] = (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)() -> run(rounds));
		for (Thread thread : threads)
			thread.join();
	}
}
