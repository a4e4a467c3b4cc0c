/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of one -e source, between slashes after its name:
 *
 *   /value=NUMBER/  /value=NUMBER:UNIT/   the number is the value of the event
 *   /value=+EVENT/  /value=+EVENT:UNIT/   the value is what a perf event has counted in the thread
 *                                         since its last event that read this counter
 *   /values=NUMBER:UNIT,NUMBER:UNIT/      two values; the first one weighs
 *   /if=CONDITIONS/                       the event is recorded if it meets the conditions
 *   /value=NUMBER,if=CONDITIONS/          both
 *   /by=KEY,stack=begin,if=CONDITIONS/    of a span: source_span.h
 *   /by=KEY,value=NUMBER,every=INTEGER/   of alive: a sample by value, see ALIVE_ESTIMATE()
 *
 *   NUMBER:      NAME  NAME:TYPE          TYPE: u8, s8 ... u64, s64: so many bytes of the number
 *                a value may also be NAME*NAME, the product of both
 *   NAME:        a number of the event; of functions also ARGUMENT->MEMBER.MEMBER->MEMBER
 *   CONDITIONS:  CONDITION  CONDITIONS && CONDITION  CONDITIONS || CONDITION   && binds stronger
 *   CONDITION:   NUMBER OP INTEGER        OP: < <= > >= == !=
 *                comm ~ GLOB  comm !~ GLOB
 *   KEY:         tid  pid  NAME  NAME:NAME   of the first event and of the second event;
 *                of alive: also *NAME:NAME, where the first key is read from memory at *NAME
 *   INTEGER:     decimal or 0xHEX, with - in front, with ns, us, ms, s, K, M or G after it
 *
 * pid, tid, uid and comm are those of the task in which the event happens. All other names are
 * numbers of the event; args.NAME is such a number whatever its name. The time of a span is `time`.
 */
#ifndef LIB_CAPTURE_SOURCE_QUESTION_H
#define LIB_CAPTURE_SOURCE_QUESTION_H

#include <stdbool.h>

#include "question.h"
#include "stackmap/error.h"

struct source;

struct number_type {
	u8 bytes; /* bytes of the number; 0: as many as the source's number has */
	bool is_signed;
};

struct condition_words {
	const char *name;
	struct number_type type;
	u8 accepts; /* outcomes of the comparison that meet the condition: bits of enum outcome */
	bool begins_alternative; /* the condition follows "||" */
	const char *pattern;	 /* glob of the operators ~ and !~; else NULL */
	u64 magnitude;
	bool is_negative;
};

/* A parsed value; the strings are parts of the parsed text. */
struct value_words {
	const char *name;   /* name of the number that is the value; NULL: no value */
	const char *factor; /* name of the number that the value is multiplied by; NULL: none */
	struct number_type type;
	const char *unit; /* unit that the user gave; NULL: the name decides (unit_for_name()) */
};

/* A parsed question; the strings are parts of the parsed text. */
struct question_words {
	const char *name;    /* name of the number that is the value; NULL: no value */
	const char *factor;  /* name of the number that the value is multiplied by; NULL: none */
	const char *counter; /* perf event whose count is the value, with modes; NULL: none */
	struct number_type type;
	const char *unit; /* unit that the user gave; NULL: the name decides (unit_for_name()) */
	struct value_words further; /* the second value of values= */
	struct condition_words conditions[QUESTION_CONDITIONS_MAX];
	u32 count;
	const char *by, *by_end; /* keys of a span at its begin and its end; NULL: not given */
	u64 every; /* INTEGER of every=, for alive: sources: one object is recorded for each INTEGER
		      units of value; 0: not given */
	bool has_stack;	       /* stack=begin, stack=end or stack=both was given */
	enum span_side stacks; /* stacks of a span's events: of the begin, the end, or both */
	enum span_role role;   /* role of the source if it is begin or end of a span; source_span.c
				  sets it */
	bool has_call; /* the ALIVE_BEGIN source has an ALIVE_CALL source; source_span.c sets it */
};

/*
 * Cuts the question, the options between slashes, from the end of a word, and returns it; NULL: the
 * word has no question. A word with a question ends in a slash, so folders of a path may have names
 * like "value=1".
 */
char *question_cut_from_word(char *word);

/*
 * If a question in `text` has a PMU's event as its counter, returns the text that follows the
 * event's terms, and sets *start to the begin of the counter: commas between the two belong to the
 * terms. NULL: no such counter.
 */
const char *question_find_end_of_pmu_terms(const char *text, const char **start);

/* True if the text after a comma is a further option of the question before the comma. */
bool begins_with_question_key(const char *text);

/* True if a comma follows a value of values=, so that the text after the comma belongs to the
 * question. */
bool is_comma_in_question_list(const char *word, const char *comma);

/*
 * Parses a question that was cut. Errors begin with `subject`. -EINVAL; -E2BIG: more than
 * QUESTION_CONDITIONS_MAX conditions; -ERANGE: an integer does not fit into 64 bits.
 */
int question_parse(char *text, const char *subject, struct question_words *out,
		   struct stackmap_error *error);

/* A number that each event of a source has: where it is read, and whether it is an address. */
struct source_number {
	struct event_number number;
	bool is_address;
};

/* The function that finds a number of the source's events by its name. On failure it returns -errno
 * and sets `error`. */
typedef int (*number_find)(void *arg, const char *name, struct source_number *out,
			   struct stackmap_error *error);

/*
 * Sets unit, question and patterns of a source by the parsed question of its word. The source uses
 * strings of `asks`, so `asks` must outlive the source. -EINVAL, -ENOENT, -ERANGE, or an error of
 * find().
 */
int question_resolve(const struct question_words *asks, const char *subject, number_find find,
		     void *arg, struct source *source, struct stackmap_error *error);

/* True if the question reads numbers of the event itself, not only of the current task. */
bool question_reads_event(const struct question *question);

/*
 * Finds the register of arg1 to arg6 (at an entry) or of ret (at a return) in pt_regs, by the C
 * calling convention. -ENOENT: another name, or the name is not known at an entry or return.
 */
int question_find_register(const char *name, bool on_return, struct event_number *out);

/* The offset in pt_regs of the word of an argument, 0 to 5, or of the result. */
#define QUESTION_ARGUMENTS 6
u32 question_argument_offset(u32 argument);
u32 question_result_offset(void);

#endif
