// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes classes, runs their functions and drops them, for so many seconds. The classes are copies of Made000000 with other numbers in all
// names, counted upwards, so that later classes have the memory of earlier ones.
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;

class Made000000 {
	static long inner_000000(int work) {
		long sum = 0;
		for (int i = 0; i < work; i++)
			sum = sum * 31 + i;
		return sum;
	}

	static long outer_000000(int work) {
		return inner_000000(work) + 1;
	}

	public static void run() {
		for (int i = 0; i < 300; i++)
			JavaMakes.sink += outer_000000(i);
	}
}

public class JavaMakes {
	public static volatile long sink;

	static class Loader extends ClassLoader {
		Loader() {
			super(JavaMakes.class.getClassLoader());
		}

		Class<?> make(byte[] code) {
			return defineClass(null, code, 0, code.length);
		}
	}

	static byte[] numbered(byte[] template, int number) {
		byte[] code = template.clone(), digits = String.format("%06d", number).getBytes(StandardCharsets.US_ASCII);
		for (int i = 0; i + 6 <= code.length; i++) {
			int same = 0;
			while (same < 6 && template[i + same] == '0')
				same++;
			if (same == 6)
				System.arraycopy(digits, 0, code, i, 6);
		}
		return code;
	}

	public static void main(String[] arguments) throws Exception {
		long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1000000000L;
		byte[] template;
		try (InputStream file = JavaMakes.class.getResourceAsStream("Made000000.class")) {
			template = file.readAllBytes();
		}
		for (int number = 1; number < 1000000 && System.nanoTime() < end; number++) {
			Class<?> made = new Loader().make(numbered(template, number));
			Method run = made.getMethod("run");
			run.setAccessible(true);
			run.invoke(null);
			if (number % 16 == 0)
				System.gc();
		}
	}
}
