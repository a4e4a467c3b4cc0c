/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/source/source_question.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "arch/host.h"
#include "capture/source/source.h"
#include "capture/source/source_counter.h"
#include "comm_glob.h"
#include "error.h"
#include "trace/event.h"

#define VALUE_KEY "value="
#define COUNTER_KEY VALUE_KEY "+"
#define VALUES_KEY "values="
#define CONDITION_KEY "if="
#define SPAN_KEY "by="
#define STACK_KEY "stack="
#define EVERY_KEY "every="

/* --- The grammar. --- */

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

bool begins_with_question_key(const char *text)
{
	return begins_with(text, VALUE_KEY) || begins_with(text, VALUES_KEY) ||
	       begins_with(text, CONDITION_KEY) || begins_with(text, SPAN_KEY) ||
	       begins_with(text, STACK_KEY) || begins_with(text, EVERY_KEY);
}

bool is_comma_in_question_list(const char *word, const char *comma)
{
	const char *item = comma;

	/* Go back to the key (KEY=) of the list that the comma is in. */
	while (item > word && item[-1] != '/') {
		item--;
		if (*item == '=')
			break;
	}
	while (item > word && item[-1] != ',' && item[-1] != '/')
		item--;
	return item > word && begins_with(item, VALUES_KEY);
}

const char *question_find_end_of_pmu_terms(const char *text, const char **start)
{
	*start = strstr(text, COUNTER_KEY);
	return *start ? pmu_event_end(*start + strlen(COUNTER_KEY)) : NULL;
}

char *question_cut_from_word(char *word)
{
	char *end = word + strlen(word), *found = NULL;

	if (end == word || end[-1] != '/')
		return NULL;
	for (char *slash = strchr(word, '/'); slash && slash + 1 < end;
	     slash = strchr(slash + 1, '/'))
		if (begins_with_question_key(slash + 1))
			found = slash;
	if (!found)
		return NULL;
	end[-1] = '\0';
	*found = '\0';
	return found + 1;
}

/* True if the text begins with an arrow "->", which leads from a pointer to a member. */
static bool is_arrow(const char *text)
{
	return begins_with(text, "->");
}

static bool is_word_character(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* Returns the length of the name at the start of the text; 0: no name. The parts of a name are
 * joined by dots or arrows. */
static size_t length_of_name(const char *text)
{
	size_t length = 0;

	if (isdigit((unsigned char)text[0]))
		return 0;
	while (is_word_character(text[length])) {
		size_t joint;

		while (is_word_character(text[length]))
			length++;
		joint = text[length] == '.' ? 1 : is_arrow(text + length) ? 2 : 0;
		length += joint && is_word_character(text[length + joint]) ? joint : 0;
	}
	return length;
}

static bool is_valid_name(const char *text)
{
	return text[0] && length_of_name(text) == strlen(text);
}

static bool is_identifier(const char *text)
{
	size_t length =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return length && !text[length];
}

static bool parse_type(const char *text, struct number_type *type)
{
	static const char *const bits[] = {"8", "16", "32", "64"};

	if (text[0] != 'u' && text[0] != 's')
		return false;
	for (u32 i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		if (!strcmp(text + 1, bits[i])) {
			*type = (struct number_type){1U << i, text[0] == 's'};
			return true;
		}
	return false;
}

/* Parses the counter of value=+: "EVENT", "EVENT:MODES", "EVENT:UNIT" or "EVENT:MODES:UNIT"; a
 * PMU's modes need no colon. */
static bool parse_counter(char *text, struct question_words *out)
{
	const char *terms = pmu_event_end(text);
	char *end = terms ? (char *)terms : text + strcspn(text, ":");
	char *modes = end + (*end == ':');
	size_t count = strspn(modes, "ukp");

	if (end == text)
		return false;
	if (count && (!modes[count] || modes[count] == ':'))
		end = modes + count;
	if (*end && *end != ':')
		return false;
	if (*end) {
		*end = '\0';
		out->unit = end + 1;
	}
	out->counter = text;
	return !out->unit || is_identifier(out->unit);
}

/* Parses a value: "NAME", "NAME:TYPE", "NAME:UNIT" or "NAME:TYPE:UNIT". */
static bool split_description_of_value(char *text, struct value_words *out)
{
	char *factor = strsep(&text, ":"), *name = strsep(&factor, "*"), *part;

	if (!is_valid_name(name) || (factor && !is_valid_name(factor)))
		return false;
	out->name = name;
	out->factor = factor;
	if (!text)
		return true;
	part = strsep(&text, ":");
	if (!parse_type(part, &out->type))
		out->unit = part;
	else if (text)
		out->unit = strsep(&text, ":");
	return !text && (!out->unit || is_identifier(out->unit));
}

/* Parses one value, or the two values of values=. `second`: text of the second value; NULL:
 * none. */
static bool parse_values(char *first, char *second, struct question_words *out)
{
	struct value_words value = {};

	if (!split_description_of_value(first, &value) ||
	    (second && !split_description_of_value(second, &out->further)))
		return false;
	out->name = value.name;
	out->factor = value.factor;
	out->type = value.type;
	out->unit = value.unit;
	return true;
}

static const struct {
	const char *text; /* text of the operator; in this list an operator comes before shorter
			     ones that it begins with */
	u8 accepts;
	bool is_pattern;
} operators[] = {
	{"<=", COMPARED_LESS | COMPARED_EQUAL, false},
	{">=", COMPARED_GREATER | COMPARED_EQUAL, false},
	{"==", COMPARED_EQUAL, false},
	{"!=", COMPARED_LESS | COMPARED_GREATER, false},
	{"!~", COMPARED_LESS, true},
	{"<", COMPARED_LESS, false},
	{">", COMPARED_GREATER, false},
	{"~", COMPARED_EQUAL, true},
};

#define OPERATORS (sizeof(operators) / sizeof(*operators))

static const struct {
	const char *suffix;
	u64 factor;
} factors[] = {
	{"", 1},	   {"ns", 1},	      {"us", 1000},	 {"ms", 1000000},
	{"s", 1000000000}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30},
};

static int parse_integer(const char *text, struct condition_words *out)
{
	char *suffix;

	out->is_negative = text[0] == '-';
	text += out->is_negative;
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	out->magnitude = strtoull(text, &suffix, 0);
	if (errno)
		return -ERANGE;
	for (u32 i = 0; i < sizeof(factors) / sizeof(*factors); i++)
		if (!strcmp(suffix, factors[i].suffix))
			return __builtin_mul_overflow(out->magnitude, factors[i].factor,
						      &out->magnitude) ||
					       (out->is_negative && out->magnitude > 1ULL << 63)
				       ? -ERANGE
				       : 0;
	return -EINVAL;
}

static int set_bad_condition_error(const char *subject, const char *text,
				   struct stackmap_error *error)
{
	return error_set(
		error, EINVAL,
		"%s: bad condition %s; expected NAME OP NUMBER with OP < <= > >= == or !=, "
		"or comm~GLOB or comm!~GLOB",
		subject, text[0] ? text : "(empty)");
}

static char *trim_blanks(char *text)
{
	size_t length;

	while (*text == ' ')
		text++;
	length = strlen(text);
	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
	return text;
}

static int parse_condition(char *text, const char *subject, struct condition_words *out,
			   struct stackmap_error *error)
{
	char whole[96], *operator, * name, *type;
	u32 found = 0;
	int err = 0;

	text = trim_blanks(text);
	strncpy(whole, text, sizeof(whole) - 1);
	whole[sizeof(whole) - 1] = '\0';
	operator= text;
	while (*operator&&(is_arrow(operator) || !strchr("<>=!~", *operator)))
		operator+= is_arrow(operator) ? 2 : 1;
	while (found < OPERATORS && !begins_with(operator, operators[found].text))
		found++;
	if (found == OPERATORS)
		return set_bad_condition_error(subject, whole, error);
	text = trim_blanks(operator+ strlen(operators[found].text));
	*operator= '\0';
	type = name = operator== out->name ? operator: trim_blanks((char *)out->name);
	name = strsep(&type, ":");
	out->name = name;
	out->accepts = operators[found].accepts;
	if (!name[0] || length_of_name(name) != strlen(name) ||
	    (type && !parse_type(type, &out->type)))
		return set_bad_condition_error(subject, whole, error);
	if (operators[found].is_pattern != !strcmp(name, "comm") ||
	    (operators[found].is_pattern && type))
		return set_bad_condition_error(subject, whole, error);
	if (operators[found].is_pattern)
		out->pattern = text;
	else
		err = parse_integer(text, out);
	if (err == -ERANGE)
		return error_set(error, ERANGE, "%s: the number in %s does not fit into 64 bits",
				 subject, whole);
	return err || (out->pattern && !out->pattern[0])
		       ? set_bad_condition_error(subject, whole, error)
		       : 0;
}

/*
 * Cuts the text at the first "&&" or "||". Returns the text that follows the operator; NULL: no
 * operator.
 */
static char *cut_condition(char *text, bool *is_alternative)
{
	for (; *text; text++)
		if (begins_with(text, "&&") || begins_with(text, "||")) {
			*is_alternative = *text == '|';
			*text = '\0';
			return text + 2;
		}
	return NULL;
}

static int parse_conditions(char *text, const char *subject, struct question_words *out,
			    struct stackmap_error *error)
{
	bool is_alternative = false;
	int err = 0;

	while (text && !err) {
		struct condition_words *condition = &out->conditions[out->count];
		bool begins_alternative = is_alternative;
		char *rest = cut_condition(text, &is_alternative);

		if (out->count++ == QUESTION_CONDITIONS_MAX)
			return error_set(error, E2BIG, "%s: more than %d conditions", subject,
					 QUESTION_CONDITIONS_MAX);
		*condition = (struct condition_words){
			.name = text,
			.begins_alternative = begins_alternative,
		};
		err = parse_condition(text, subject, condition, error);
		text = rest;
	}
	return err;
}

/* Parses a key of by=: "NAME" or "NAME:NAME". */
static bool parse_key(char *text, struct question_words *out)
{
	char *name = strsep(&text, ":");

	out->by = name;
	out->by_end = text ?: name;
	name += name[0] == '*';
	return is_valid_name(name) && is_valid_name(out->by_end);
}

static bool parse_stack(const char *text, struct question_words *out)
{
	out->has_stack = true;
	out->stacks = !strcmp(text, "begin")  ? SPAN_STACKS_BEGIN
		      : !strcmp(text, "both") ? SPAN_STACKS_BOTH
					      : SPAN_STACKS_END;
	return out->stacks || !strcmp(text, "end");
}

static bool parse_every(const char *text, struct question_words *out)
{
	struct condition_words number = {};

	if (parse_integer(text, &number) || number.is_negative || !number.magnitude ||
	    number.magnitude > ALIVE_EVERY_MAX)
		return false;
	out->every = number.magnitude;
	return true;
}

/* Cuts the next item at a comma that is not between the terms of a PMU's event. */
static char *cut_next_item(char **rest)
{
	char *item = *rest, *comma = item;
	const char *counter, *terms;

	if (!item)
		return NULL;
	terms = question_find_end_of_pmu_terms(item, &counter);
	if (counter == item && terms)
		comma = (char *)terms;
	comma = strchr(comma, ',');
	*rest = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	return item;
}

int question_parse(char *text, const char *subject, struct question_words *out,
		   struct stackmap_error *error)
{
	char *item, *second;
	int err = 0;

	*out = (struct question_words){};
	while (!err && (item = cut_next_item(&text))) {
		if (begins_with(item, VALUE_KEY) && !out->name && !out->counter)
			err = (item[strlen(VALUE_KEY)] == '+'
				       ? parse_counter(item + strlen(COUNTER_KEY), out)
				       : parse_values(item + strlen(VALUE_KEY), NULL, out))
				      ? 0
				      : error_set(error, EINVAL,
						  "%s: expected /value=NUMBER/, "
						  "/value=NUMBER:UNIT/, "
						  "/value=NUMBER:TYPE:UNIT/ or "
						  "/value=+EVENT/",
						  subject);
		else if (begins_with(item, VALUES_KEY) && !out->name && !out->counter)
			err = (second = strsep(&text, ",")) &&
					      parse_values(item + strlen(VALUES_KEY), second, out)
				      ? 0
				      : error_set(error, EINVAL,
						  "%s: expected /values=NUMBER,NUMBER/ or "
						  "/values=NUMBER:UNIT,NUMBER:UNIT/, two of them",
						  subject);
		else if (begins_with(item, SPAN_KEY) && !out->by)
			err = parse_key(item + strlen(SPAN_KEY), out)
				      ? 0
				      : error_set(error, EINVAL,
						  "%s: expected by=tid, by=pid, by=NAME, or "
						  "by=NAME:NAME",
						  subject);
		else if (begins_with(item, STACK_KEY) && !out->has_stack)
			err = parse_stack(item + strlen(STACK_KEY), out)
				      ? 0
				      : error_set(
						error, EINVAL,
						"%s: expected stack=begin, stack=end or stack=both",
						subject);
		else if (begins_with(item, EVERY_KEY) && !out->every)
			err = parse_every(item + strlen(EVERY_KEY), out)
				      ? 0
				      : error_set(error, EINVAL,
						  "%s: expected every=NUMBER, from 1 to 4G-1",
						  subject);
		else if (begins_with(item, CONDITION_KEY) && !out->count)
			err = parse_conditions(item + strlen(CONDITION_KEY), subject, out, error);
		else
			err = error_set(
				error, EINVAL,
				"%s: expected one value=NUMBER and one if=CONDITIONS, or "
				"values=NUMBER,NUMBER, between the slashes, separated by a comma",
				subject);
	}
	return err;
}

/* --- The numbers that the events of a source have. --- */

/* Returns the unit of a number, by the number's name; for a member of a structure, by the member's
 * name. */
static const char *unit_for_name(const char *source, const char *name)
{
	const char *arrow = strrchr(name, '>'), *dot = strrchr(name, '.');

	if (arrow || dot)
		name = (arrow > dot ? arrow : dot) + 1;
	if (strstr(name, "bytes"))
		return "bytes";
	if (begins_with(source, "sched:sched_stat_") && strcmp(name, "pid"))
		return "ns";
	return name;
}

static int narrow_number_to_type(const struct number_type *type, const char *name,
				 const char *subject, struct event_number *number,
				 struct stackmap_error *error)
{
	if (!type->bytes)
		return 0;
	if (type->bytes > number->bytes)
		return error_set(error, EINVAL, "%s: %s has %u bytes only", subject, name,
				 number->bytes);
	number->bytes = type->bytes;
	number->is_signed = type->is_signed;
	return 0;
}

static const char *skip_args_prefix(const char *name)
{
	return begins_with(name, "args.") ? name + strlen("args.") : name;
}

/* Finds the number of a value, the number that it is multiplied by, and the value's unit. */
static int find_numbers_and_unit_of_value(const struct value_words *value, const char *subject,
					  number_find find, void *arg, const struct source *source,
					  struct event_number *number, struct event_number *factor,
					  char **unit, struct stackmap_error *error)
{
	const char *name = skip_args_prefix(value->name);
	struct source_number found = {}, other = {};
	int err =
		find(arg, name, &found, error)
			?: narrow_number_to_type(&value->type, name, subject, &found.number, error);

	if (!err && value->factor)
		err = find(arg, skip_args_prefix(value->factor), &other, error)
			      ?: narrow_number_to_type(&value->type, value->factor, subject,
						       &other.number, error);
	if (err)
		return err;
	*number = found.number;
	*factor = other.number;
	*unit = (char *)(value->unit	    ? value->unit
			 : found.is_address ? TRACE_UNIT_ADDRESS
					    : unit_for_name(source->name, name));
	return 0;
}

/* Returns the name by which a reader may choose one of two values; NULL: a product has no name. */
static char *name_of_value_unless_product(const struct value_words *value)
{
	return value->factor ? NULL : (char *)skip_args_prefix(value->name);
}

/* Sets the perf counter whose count is the value of a source. question.in_switch: at sched_switch
 * the task's count of switches includes the current switch already. */
static int set_counter_of_source(const struct question_words *asks, const char *subject,
				 struct source *source, struct stackmap_error *error)
{
	const char *unit;
	int err = source_counter_find(asks->counter, subject, &source->counter, &unit, error);

	if (err)
		return err;
	source->unit = (char *)(asks->unit ?: unit);
	source->question.in_switch =
		source->type == SOURCE_TRACEPOINT && !strcmp(source->name, "sched:sched_switch");
	return 0;
}

static int set_values_of_source(const struct question_words *asks, const char *subject,
				number_find find, void *arg, struct source *source,
				struct stackmap_error *error)
{
	const struct value_words value = {asks->name, asks->factor, asks->type, asks->unit};
	struct question *question = &source->question;
	int err = 0;

	if (value.name)
		err = find_numbers_and_unit_of_value(&value, subject, find, arg, source,
						     &question->value, &question->factor,
						     &source->unit, error);
	if (!err && asks->further.name)
		err = find_numbers_and_unit_of_value(&asks->further, subject, find, arg, source,
						     &question->further, &question->further_factor,
						     &source->further_unit, error);
	if (!err && asks->further.name) {
		source->value_name = name_of_value_unless_product(&value);
		source->further_name = name_of_value_unless_product(&asks->further);
	}
	return err;
}

static const struct {
	const char *name;
	enum condition_subject subject;
} task_subjects[] = {
	{"comm", CONDITION_COMM}, {"pid", CONDITION_PID},	{"tid", CONDITION_TID},
	{"uid", CONDITION_UID},	  {"cgroup", CONDITION_CGROUP},
};

static enum condition_subject choose_condition_subject_by_name(const char *name)
{
	for (u32 i = 0; i < sizeof(task_subjects) / sizeof(*task_subjects); i++)
		if (!strcmp(name, task_subjects[i].name))
			return task_subjects[i].subject;
	return CONDITION_NUMBER;
}

static int check_comm_pattern(const char *pattern, const char *subject,
			      struct stackmap_error *error)
{
	const char *items[] = {pattern};
	const struct string_list list = {.items = items, .count = 1};
	struct stackmap_error reason;
	struct comm_globs globs;

	if (comm_globs_compile(&list, &globs, &reason))
		return error_set(error, ERANGE,
				 "%s: comm~%s: the name of a task has 15 bytes at most", subject,
				 pattern);
	return 0;
}

/* Rejects an integer that no number of this type can have: a condition with it would always have
 * the same result. */
static int check_integer_range(const struct condition_words *words,
			       const struct event_number *number, const char *subject,
			       struct stackmap_error *error)
{
	u32 bits = 8 * number->bytes;
	u64 most = ~0ULL >> (64 - bits + number->is_signed);

	if (words->is_negative)
		most = number->is_signed ? most + 1 : 0;
	if (words->magnitude <= most)
		return 0;
	return error_set(error, ERANGE, "%s: %s is a number of %u bits %s a sign, and never %s%llu",
			 subject, words->name, bits, number->is_signed ? "with" : "without",
			 words->is_negative ? "-" : "", (unsigned long long)words->magnitude);
}

/* For a comparison, makes the number of an address include all its bytes; a value leaves out the
 * highest byte. */
static void include_all_address_bytes(struct event_number *number)
{
	if (number->bytes == 7)
		number->bytes = 8;
}

static int make_condition_from_words(const struct condition_words *words, bool has_time,
				     const char *subject, number_find find, void *arg,
				     struct condition *out, struct stackmap_error *error)
{
	struct source_number found = {.number = {.bytes = sizeof(u32)}};
	int err = 0;

	*out = (struct condition){
		.subject = choose_condition_subject_by_name(words->name),
		.accepts = words->accepts,
		.begins_alternative = words->begins_alternative,
	};
	if (out->subject == CONDITION_COMM)
		return check_comm_pattern(words->pattern, subject, error);
	if (has_time && !strcmp(words->name, "time"))
		out->subject = CONDITION_TIME;
	if (out->subject == CONDITION_TIME || out->subject == CONDITION_CGROUP)
		found.number.bytes = sizeof(u64);
	if (out->subject == CONDITION_NUMBER)
		err = find(arg, skip_args_prefix(words->name), &found, error);
	include_all_address_bytes(&found.number);
	err = err
		      ?: narrow_number_to_type(&words->type, words->name, subject, &found.number,
					       error);
	err = err ?: check_integer_range(words, &found.number, subject, error);
	out->number = found.number;
	out->operand = words->is_negative ? -words->magnitude : words->magnitude;
	return err;
}

static int set_span_key_of_source(const struct question_words *asks, number_find find, void *arg,
				  struct source *source, struct stackmap_error *error)
{
	bool is_end = asks->role == SPAN_END || asks->role == ALIVE_END;
	const char *name = is_end ? asks->by_end : asks->by;
	struct question *question = &source->question;
	struct source_number found = {};
	int err = 0;

	question->span_role = asks->role;
	question->has_call = asks->has_call;
	question->stacks = asks->stacks;
	question->every = asks->every;
	if (asks->role == SPAN_NONE || (asks->role == ALIVE_CALL && !name))
		return 0;
	if (asks->role >= ALIVE_CALL)
		question->span = source->type == SOURCE_USER;
	question->key_subject = name ? choose_condition_subject_by_name(name) : CONDITION_TID;
	if (question->key_subject != CONDITION_PID && question->key_subject != CONDITION_TID) {
		question->key_subject = CONDITION_NUMBER;
		err = find(arg, skip_args_prefix(name), &found, error);
	}
	include_all_address_bytes(&found.number);
	question->key = found.number;
	return err;
}

/*
 * True if the programs may refuse an event by its first condition alone, and before the filters:
 * all conditions are joined by &&, the question has no span role, and the first condition follows
 * no pointer. The read behind a pointer can fail, and a failure counts (numbers_unread), so the
 * filters come before it.
 */
static bool may_refuse_early(const struct question *question)
{
	const struct condition *first = &question->conditions[0];

	if (!question->count || question->span_role != SPAN_NONE)
		return false;
	for (u32 i = 0; i < question->count; i++)
		if (question->conditions[i].begins_alternative)
			return false;
	return first->subject != CONDITION_NUMBER || first->number.place == NUMBER_IN_EVENT;
}

int question_resolve(const struct question_words *asks, const char *subject, number_find find,
		     void *arg, struct source *source, struct stackmap_error *error)
{
	int err = asks->counter ? set_counter_of_source(asks, subject, source, error)
				: set_values_of_source(asks, subject, find, arg, source, error);

	err = err ?: set_span_key_of_source(asks, find, arg, source, error);
	source->question.count = asks->count;
	for (u32 i = 0; i < asks->count && !err; i++) {
		source->patterns[i] = (char *)asks->conditions[i].pattern;
		err = make_condition_from_words(&asks->conditions[i], asks->role == SPAN_END,
						subject, find, arg, &source->question.conditions[i],
						error);
	}
	source->question.refuses_early = !err && may_refuse_early(&source->question);
	return err;
}

bool question_reads_event(const struct question *question)
{
	bool reads = question->value.bytes || question->further.bytes || question->key.bytes;

	for (u32 i = 0; i < question->count; i++)
		reads |= question->conditions[i].subject == CONDITION_NUMBER;
	return reads;
}

u32 question_argument_offset(u32 argument)
{
	static const u32 offsets[QUESTION_ARGUMENTS] = FUNCTION_ARGUMENTS;

	return offsets[argument];
}

u32 question_result_offset(void)
{
	return RESULT_OFFSET;
}

int question_find_register(const char *name, bool on_return, struct event_number *out)
{
	u32 argument = name[0] ? name[strlen(name) - 1] - '1' : 0;
	bool is_argument = begins_with(name, "arg") && strlen(name) == strlen("arg1") &&
			   argument < QUESTION_ARGUMENTS;

	if (on_return ? strcmp(name, "ret") : !is_argument)
		return -ENOENT;
	*out = (struct event_number){
		.offset = on_return ? question_result_offset() : question_argument_offset(argument),
		.bytes = sizeof(u64),
		.is_signed = true,
	};
	return 0;
}
