/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of the kernel's symbols, in the lines of /proc/kallsyms. The kernel makes its 200,000
 * lines by a format string, which takes twice the instructions of this program.
 *
 * Data of the kernel's image is left out, up to a half of all lines: it lies behind the symbols
 * that end the sections of code (_etext, _einittext), so no function ends at it. The linker may
 * give these two symbols the type of the data that follows, as it does on arm64, so they are in the
 * list by their names. Data of a module may be all that follows the module's code.
 */
#ifndef BPF_KERNEL_SYMBOLS_H
#define BPF_KERNEL_SYMBOLS_H

#include "kernel/iterator.h"
#include "state/map.h"

#define SYMBOL_NAME_BYTES 512
#define SYMBOL_SHORT_BYTES 64 /* bytes of a name that are copied at once */
#define SYMBOL_MODULE_BYTES 56
#define SYMBOL_DIGITS 16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kallsym_iter {
	unsigned long value;
	char type;
	char name[SYMBOL_NAME_BYTES];
	char module_name[SYMBOL_MODULE_BYTES];
	int exported;
	int show_value; /* 0: the reader of the file may not see addresses */
};

struct bpf_iter__ksym {
	struct bpf_iter_meta *meta;
	struct kallsym_iter *ksym; /* NULL at the call after the last symbol */
};

#pragma clang attribute pop

/*
 * Memory in which the iterator makes one line of its output: "ADDRESS TYPE name", and for a module
 * "<tab>[module]". One reader runs at a time, so there is one such line.
 */
struct symbol_line {
	char digits[SYMBOL_DIGITS];
	char type[3];
	char rest[SYMBOL_NAME_BYTES + SYMBOL_MODULE_BYTES + 4];
};

ARRAY_MAP(symbol_line, 1, struct symbol_line);

/* Converts a number to eight hexadecimal digits in one word, the first digit in the lowest byte. */
static __always_inline u64 to_eight_hex_digits(u32 number)
{
	u64 digits = __builtin_bswap32(number), letters;

	digits = (digits | digits << 16) & 0x0000ffff0000ffffULL;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits >> 4 & 0x000f000f000f000fULL) | (digits & 0x000f000f000f000fULL) << 8;
	letters = (digits + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return digits + 0x3030303030303030ULL + letters * ('a' - '0' - 10);
}

/*
 * load_u64() and store_u64() access a word at any address by one instruction. A memcpy() from or to
 * an unaligned address would access each byte alone.
 */
static __always_inline u64 load_u64(const char *from)
{
	return *(const u64 *)from;
}

static __always_inline void store_u64(char *to, u64 word)
{
	*(u64 *)to = word;
}

static __always_inline void write_symbol_line_head(struct symbol_line *line, u64 address, char type)
{
	store_u64(line->digits, to_eight_hex_digits(address >> 32));
	store_u64(line->digits + sizeof(u64), to_eight_hex_digits(address));
	line->type[0] = ' ';
	line->type[1] = type;
	line->type[2] = ' ';
}

static __always_inline bool is_code_type(char type)
{
	type |= 0x20;
	return type == 't' || type == 'w';
}

/* The bytes of the names with their NUL, the first byte in the lowest bits. */
#define NAME_ETEXT 0x74786574655fULL
#define NAME_ETEXT_MASK 0x00ffffffffffffffULL
#define NAME_EINITTEXT 0x657474696e69655fULL
#define NAME_EINITTEXT_END 0x7478ULL
#define NAME_EINITTEXT_END_MASK 0x0000000000ffffffULL

/* True for _etext and _einittext. The first two words of the name are copied to the line's rest. */
static __always_inline bool is_end_of_image_code(struct symbol_line *line,
						 const struct kallsym_iter *symbol)
{
	u64 first, second;

	if (symbol->name[0] != '_' || symbol->name[1] != 'e')
		return false;
	bpf_probe_read_kernel(line->rest, 2 * sizeof(u64), symbol->name);
	first = load_u64(line->rest);
	second = load_u64(line->rest + sizeof(u64));
	return (first & NAME_ETEXT_MASK) == NAME_ETEXT ||
	       (first == NAME_EINITTEXT &&
		(second & NAME_EINITTEXT_END_MASK) == NAME_EINITTEXT_END);
}

/* The type of a module's symbol is a capital letter if it is exported, as kallsyms shows it. */
static __always_inline char symbol_type_letter(const struct kallsym_iter *symbol)
{
	char type = symbol->type;

	if (!symbol->module_name[0])
		return type;
	type |= 0x20;
	return symbol->exported ? type - ('a' - 'A') : type;
}

/* Completes a line whose rest has `used` bytes, the name and its NUL: the module, if there is one,
 * and a newline take the place of the NUL. Returns the new number of bytes; 0: the module's name
 * cannot be read. */
static __always_inline u32 write_symbol_line_tail(struct symbol_line *line, u32 used,
						  const struct kallsym_iter *symbol)
{
	long bytes;

	used--;
	if (symbol->module_name[0]) {
		line->rest[used] = '\t';
		line->rest[used + 1] = '[';
		bytes = bpf_probe_read_kernel_str(line->rest + used + 2, SYMBOL_MODULE_BYTES,
						  symbol->module_name);
		if (bytes < 1 || bytes > SYMBOL_MODULE_BYTES)
			return 0;
		used += 1 + bytes;
		line->rest[used++] = ']';
	}
	line->rest[used++] = '\n';
	return used;
}

#define SYMBOL_BYTES_OF(value) (0x0101010101010101ULL * (value))

/* Copies the name with its NUL. Most names are short, and words are read and searched in a tenth of
 * the instructions of a string that is read byte by byte. Returns the bytes, or -errno. */
static __always_inline long copy_symbol_name(struct symbol_line *line,
					     const struct kallsym_iter *symbol)
{
	u32 at;

	bpf_probe_read_kernel(line->rest, SYMBOL_SHORT_BYTES, symbol->name);
#pragma unroll
	for (at = 0; at < SYMBOL_SHORT_BYTES; at += sizeof(u64)) {
		u64 word = load_u64(line->rest + at);
		u64 nul = (word - SYMBOL_BYTES_OF(1)) & ~word & SYMBOL_BYTES_OF(0x80);

		if (nul) { /* the lowest set bit is in the first NUL of `word` */
			u64 before = ((nul & -nul) - 1) & SYMBOL_BYTES_OF(1);

			return at + (before * SYMBOL_BYTES_OF(1) >> 56);
		}
	}
	return bpf_probe_read_kernel_str(line->rest, SYMBOL_NAME_BYTES, symbol->name);
}

SEC("iter/ksym")
int list_kernel_symbols(struct bpf_iter__ksym *ctx)
{
	const struct kallsym_iter *symbol = ctx->ksym;
	struct symbol_line *line;
	u32 zero = 0;
	long bytes;

	line = bpf_map_lookup_elem(&symbol_line, &zero);
	if (!symbol || !line || !symbol->name[0] ||
	    (!symbol->module_name[0] && !is_code_type(symbol->type) &&
	     !is_end_of_image_code(line, symbol)))
		return 0;
	write_symbol_line_head(line, symbol->show_value ? symbol->value : 0,
			       symbol_type_letter(symbol));
	bytes = copy_symbol_name(line, symbol);
	if (bytes < 1 || bytes > SYMBOL_NAME_BYTES)
		return 0;
	bytes = write_symbol_line_tail(line, bytes, symbol);
	if (bytes)
		bpf_seq_write(ctx->meta->seq, line, offsetof(struct symbol_line, rest) + bytes);
	return 0;
}

#endif
