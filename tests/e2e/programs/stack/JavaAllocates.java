// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls a library's function that allocates memory, from two functions in turn, so many times each. A recorder has some
// seconds before that to make the table of the virtual machine's library.
import java.util.zip.Inflater;

public class JavaAllocates {
	static long sink;

	static long allocate(int number) {
		Inflater inflater = new Inflater();
		inflater.end();
		return number;
	}

	static long first(int number) {
		return allocate(number) + 1;
	}

	static long second(int number) {
		return allocate(number) + 2;
	}

	public static void main(String[] arguments) throws InterruptedException {
		Thread.sleep(3000);
		int rounds = Integer.parseInt(arguments[0]);
		for (int i = 0; i < rounds; i++)
			sink += first(i) + second(i);
	}
}
