/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layout of codes and remaining bits is in abi/trace_file.h. */
#include "trace/bytes/number_column.h"

#include "trace_file.h"

static void write_bits(struct number_writer *writer, u64 value, u32 count)
{
	writer->pending |= value << writer->pending_count;
	writer->pending_count += count;
	for (; writer->pending_count >= 8; writer->pending_count -= 8) {
		byte_buffer_byte(writer->bits, (u8)writer->pending);
		writer->pending >>= 8;
	}
}

void number_writer_put(struct number_writer *writer, u64 number)
{
	u32 exponent, open;

	if (number < NUMBER_SMALL) {
		byte_buffer_byte(writer->codes, (u8)number);
		return;
	}
	exponent = 63 - (u32)__builtin_clzll(number);
	if (exponent > NUMBER_EXPONENT_MAX) {
		byte_buffer_byte(writer->codes, NUMBER_WIDE);
		write_bits(writer, number & UINT32_MAX, 32);
		write_bits(writer, number >> 32, 32);
		return;
	}
	open = exponent - NUMBER_EXPONENT_MIN;
	byte_buffer_byte(writer->codes, (u8)(NUMBER_SMALL + open * 8 + (number >> open & 7)));
	write_bits(writer, number & ((1ULL << open) - 1), open);
}

void number_writer_finish(struct number_writer *writer)
{
	if (writer->pending_count)
		byte_buffer_byte(writer->bits, (u8)writer->pending);
	writer->pending = 0;
	writer->pending_count = 0;
}

static u64 read_bits(struct number_reader *reader, u32 count)
{
	u64 value;

	for (; reader->pending_count < count; reader->pending_count += 8) {
		if (reader->bits.at == reader->bits.end) {
			reader->bad = true;
			return 0;
		}
		reader->pending |= (u64)*reader->bits.at++ << reader->pending_count;
	}
	value = reader->pending & ((1ULL << count) - 1);
	reader->pending >>= count;
	reader->pending_count -= count;
	return value;
}

u64 number_reader_get(struct number_reader *reader)
{
	u32 code, open;
	u64 number;

	if (reader->bad || reader->codes.at == reader->codes.end) {
		reader->bad = true;
		return 0;
	}
	code = *reader->codes.at++;
	if (code < NUMBER_SMALL)
		return code;
	open = (code - NUMBER_SMALL) / 8;
	if (code == NUMBER_WIDE) {
		number = read_bits(reader, 32);
		number |= read_bits(reader, 32) << 32;
	} else if (open > NUMBER_EXPONENT_MAX - NUMBER_EXPONENT_MIN) {
		reader->bad = true;
		return 0;
	} else {
		number = (u64)(8 | (code & 7)) << open | read_bits(reader, open);
	}
	return reader->bad ? 0 : number;
}

bool number_reader_done(const struct number_reader *reader)
{
	return !reader->bad && !byte_cursor_left(&reader->codes) &&
	       !byte_cursor_left(&reader->bits);
}
