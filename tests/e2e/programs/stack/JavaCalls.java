// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Runs functions whose callers are known by this source, for so many seconds of each thread's own CPU time.
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

public class JavaCalls {
	static volatile long sink;

	interface Shape {
		long area(int work);
	}

	static class Circle implements Shape {
		public long area(int work) {
			return work_of_shape(work);
		}
	}

	static class Square implements Shape {
		public synchronized long area(int work) {
			return work_of_shape(work);
		}
	}

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

	static long work_of_recursion(int work) {
		return burn(work) + 2;
	}

	static long work_of_shape(int work) {
		return burn(work) + 3;
	}

	static long work_of_sort(int work) {
		return burn(work) + 4;
	}

	static long work_of_failure(int work) {
		sink += burn(work);
		throw new IllegalStateException("meant");
	}

	static long work_of_reflection(int work) {
		return burn(work) + 6;
	}

	public static long reflected(int work) {
		return work_of_reflection(work) + 1;
	}

	static long plain(int work) {
		return work_of_plain(work) + 1;
	}

	static long recurse(int depth, int work) {
		return depth == 0 ? work_of_recursion(work) : recurse(depth - 1, work) + 1;
	}

	static long shapes(int work) {
		Shape[] shapes = {new Circle(), new Square()};
		long sum = 0;
		for (Shape shape : shapes)
			sum += shape.area(work);
		return sum;
	}

	static int compare(Integer first, Integer second) {
		sink += work_of_sort(200);
		return first - second;
	}

	static long sorted() {
		Integer[] numbers = new Integer[20];
		for (int i = 0; i < numbers.length; i++)
			numbers[i] = i * 7919 % 20;
		Arrays.sort(numbers, JavaCalls::compare);
		return numbers[0];
	}

	static long failing(int work) {
		try {
			return work_of_failure(work);
		} catch (IllegalStateException failure) {
			return failure.getMessage().length();
		}
	}

	static long reflecting(int work) throws Exception {
		return (Long) JavaCalls.class.getMethod("reflected", int.class).invoke(null, work);
	}

	static void run(long seconds) throws Exception {
		long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() + seconds * 1000000000L;
		while (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() < end) {
			for (int i = 0; i < 20; i++) {
				sink += plain(2000);
				sink += recurse(20, 2000);
				sink += shapes(1000);
				sink += sorted();
				sink += failing(2000);
				sink += reflecting(2000);
			}
		}
	}

	public static void main(String[] arguments) throws Exception {
		long seconds = Long.parseLong(arguments[0]);
		Files.writeString(Path.of("java.pid"), Long.toString(ProcessHandle.current().pid()));
		Thread[] threads = new Thread[2];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> {
				try {
					run(seconds);
				} catch (Exception failure) {
					failure.printStackTrace();
					System.exit(1);
				}
			}, "worker");
			threads[i].start();
		}
		for (Thread thread : threads)
			thread.join();
	}
}
