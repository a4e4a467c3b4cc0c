/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HotSpot, the virtual machine of OpenJDK (src/hotspot/share/runtime/vmStructs.cpp). The file
 * exports two tables, gHotSpotVMStructs with the members of types and gHotSpotVMTypes with the
 * sizes of types. An entry of gHotSpotVMStructs has these words:
 *
 *   0 type, 8 member, 16 type of the member, 24 1: static, 32 offset, 40 address if static
 *
 * An entry of gHotSpotVMTypes has the type's name at 0 and the size at 32. The file lacks only the
 * offsets: a constructor stores them when the file is loaded, by one `movq $offset, entry+32(%rip)`
 * for each offset. The file's code is searched for these instructions.
 */
#include "script_loop.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/elf_words.h"

#define WORD 8
#define MEMBER_BYTES 48
#define MEMBER_OFFSET 32
#define MEMBER_ADDRESS 40
#define TYPE_BYTES 40
#define TYPE_SIZE 32
#define ENTRIES_MAX 4096
#define STORE_BYTES 11

/* A table that the file exports: its words, as relocations and the constructor store them. */
struct table {
	Elf *elf;
	u64 start;
	u32 entry_words, count;
	u64 *words;
};

static void set_word_of_vm_table(const struct table *table, u64 address, u64 value)
{
	u64 at = address - table->start;

	if (at % WORD == 0 && at / WORD < (u64)table->count * table->entry_words)
		table->words[at / WORD] = value;
}

static void add_words_set_by_relocations(const struct table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela relocation;

	while ((section = elf_nextscn(table->elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_flags & SHF_ALLOC)
			data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++)
			if (GELF_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
				set_word_of_vm_table(table, relocation.r_offset,
						     relocation.r_addend);
	}
}

/* Finds all instructions `movq $immediate, distance(%rip)` in the code that write to the table, and
 * stores their immediates in the table's words. */
static void add_words_stored_in_section(const struct table *table, const u8 *code, u64 bytes,
					u64 address)
{
	static const u8 store[] = {0x48, 0xc7, 0x05};
	const u8 *end = code + bytes, *at = code;

	while ((u64)(end - at) >= STORE_BYTES) {
		s32 distance, immediate;

		at = memmem(at, end - at, store, sizeof(store));
		if (!at || end - at < STORE_BYTES)
			return;
		memcpy(&distance, at + 3, sizeof(distance));
		memcpy(&immediate, at + 7, sizeof(immediate));
		set_word_of_vm_table(table, address + (at - code) + STORE_BYTES + distance,
				     immediate);
		at++;
	}
}

static void add_words_stored_by_code(const struct table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(table->elf, section))) {
		Elf_Data *data = NULL;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
		    header.sh_flags & SHF_EXECINSTR)
			data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			add_words_stored_in_section(table, data->d_buf, data->d_size,
						    header.sh_addr);
	}
}

/* Reads the table whose address is in the exported pointer `name`. */
static bool read_exported_vm_table(struct table *table, const char *name, u32 entry_bytes)
{
	u64 pointer, left;

	if (!elf_words_exported_address(table->elf, name, &pointer))
		return false;
	table->start = elf_words_pointer(table->elf, pointer);
	left = elf_words_bytes_to_section_end(table->elf, table->start);
	table->entry_words = entry_bytes / WORD;
	table->count = left / entry_bytes < ENTRIES_MAX ? left / entry_bytes : ENTRIES_MAX;
	if (!table->count)
		return false;
	table->words = calloc(table->count, entry_bytes);
	if (!table->words)
		return false;
	memcpy(table->words, elf_words_bytes(table->elf, table->start, 1),
	       (u64)table->count * entry_bytes);
	add_words_set_by_relocations(table);
	return true;
}

static bool is_table_word_text(const struct table *table, const u64 *entry, u32 word,
			       const char *text)
{
	const char *name = entry[word] ? elf_words_text(table->elf, entry[word]) : NULL;

	return name && !strcmp(name, text);
}

/* The entry of a member in the table; the entry of a type if `member` is NULL. */
static const u64 *find_vm_table_entry(const struct table *table, const char *type,
				      const char *member)
{
	for (u32 i = 0; i < table->count; i++) {
		const u64 *entry = &table->words[i * table->entry_words];

		if (!entry[0])
			return NULL;
		if (is_table_word_text(table, entry, 0, type) &&
		    (!member || is_table_word_text(table, entry, 1, member)))
			return entry;
	}
	return NULL;
}

enum { MEMBERS, TYPES, TABLES };

static bool narrow_to_u8(u64 value, u8 *out)
{
	*out = value;
	return *out == value;
}

static bool read_offset_of_member(const struct table *tables, const char *type, const char *member,
				  u8 *out)
{
	const u64 *entry = find_vm_table_entry(&tables[MEMBERS], type, member);

	return entry && narrow_to_u8(entry[MEMBER_OFFSET / WORD], out);
}

static bool read_wide_offset_of_member(const struct table *tables, const char *type,
				       const char *member, u16 *out)
{
	const u64 *entry = find_vm_table_entry(&tables[MEMBERS], type, member);
	u64 value = entry ? entry[MEMBER_OFFSET / WORD] : ~0ULL;

	*out = value;
	return *out == value;
}

static bool read_size_of_vm_type(const struct table *tables, const char *type, u8 *out)
{
	const u64 *entry = find_vm_table_entry(&tables[TYPES], type, NULL);

	return entry && narrow_to_u8(entry[TYPE_SIZE / WORD], out);
}

static bool read_address_of_static_member(const struct table *tables, const char *type,
					  const char *member, u32 *out)
{
	const u64 *entry = find_vm_table_entry(&tables[MEMBERS], type, member);
	u64 address = entry ? entry[MEMBER_ADDRESS / WORD] : 0;

	*out = address;
	return address && *out == address;
}

/* Reads the offsets of the members of a code blob. A blob of OpenJDK 17 has the address of its
 * code; a blob of OpenJDK 25 has the code's distance from the blob, and two bytes instead of four
 * for the offset of the complete frame. */
static bool read_layout_of_code_blob(const struct table *tables, struct java_layout *layout)
{
	layout->blob_is_short = !find_vm_table_entry(&tables[MEMBERS], "CodeBlob", "_code_begin");
	return read_offset_of_member(tables, "CodeBlob",
				     layout->blob_is_short ? "_code_offset" : "_code_begin",
				     &layout->blob_code) &&
	       read_offset_of_member(tables, "CodeBlob", "_frame_size", &layout->blob_frame) &&
	       read_offset_of_member(tables, "CodeBlob", "_frame_complete_offset",
				     &layout->blob_complete);
}

/* True if the virtual machine's texts (Symbol) have the layout SCRIPT_TEXT_JAVA. */
static bool are_vm_texts_as_expected(const struct table *tables)
{
	u8 hash, bytes, body;

	return read_offset_of_member(tables, "Symbol", "_hash_and_refcount", &hash) && hash == 0 &&
	       read_offset_of_member(tables, "Symbol", "_length", &bytes) && bytes == 4 &&
	       read_offset_of_member(tables, "Symbol", "_body[0]", &body) && body == JAVA_TEXT_FROM;
}

/* True if the descriptions of addresses (PcDesc) have the layout of struct java_place. */
static bool is_pc_desc_layout_known(const struct table *tables)
{
	u8 distance, scope, bytes;

	return read_offset_of_member(tables, "PcDesc", "_pc_offset", &distance) && distance == 0 &&
	       read_offset_of_member(tables, "PcDesc", "_scope_decode_offset", &scope) &&
	       scope == 4 && read_size_of_vm_type(tables, "PcDesc", &bytes) &&
	       bytes == sizeof(struct java_place);
}

/* Sets *out to the offset of a member of a type of the virtual machine. False: the type has no such
 * member, or the member's `bytes` bytes do not lie within the first JAVA_WORDS words of the object,
 * which are all that the walk reads. */
static bool read_offset_of_near_member(const struct table *tables, const char *type,
				       const char *member, u32 bytes, u8 *out)
{
	return read_offset_of_member(tables, type, member, out) &&
	       *out + bytes <= JAVA_WORDS * WORD;
}

/* Reads the offsets of the members that lead to the names of functions. If a member is missing,
 * functions have no names. In OpenJDK 17 compiled methods are a type between code blobs and
 * nmethods. */
static bool read_layout_of_method_names(const struct table *tables, struct java_layout *layout)
{
	bool is_split = find_vm_table_entry(&tables[MEMBERS], "CompiledMethod", "_method");

	return are_vm_texts_as_expected(tables) &&
	       read_wide_offset_of_member(tables, "InstanceKlass", "_constants",
					  &layout->class_pool) &&
	       read_offset_of_near_member(tables, "ConstMethod", "_constants", 8,
					  &layout->const_pool) &&
	       read_offset_of_near_member(tables, "ConstMethod", "_name_index", 2,
					  &layout->const_name) &&
	       read_offset_of_near_member(tables, "ConstantPool", "_tags", 8, &layout->pool_tags) &&
	       read_offset_of_near_member(tables, "ConstantPool", "_pool_holder", 8,
					  &layout->pool_class) &&
	       read_offset_of_near_member(tables, "ConstantPool", "_source_file_name_index", 2,
					  &layout->pool_file) &&
	       read_offset_of_near_member(tables, "ConstantPool", "_length", 4,
					  &layout->pool_count) &&
	       read_size_of_vm_type(tables, "ConstantPool", &layout->pool_bytes) &&
	       read_offset_of_member(tables, "Array<u1>", "_data", &layout->tags_data) &&
	       read_offset_of_member(tables, "Klass", "_name", &layout->class_name) &&
	       read_offset_of_member(tables, "CodeBlob", "_name", &layout->blob_name) &&
	       read_offset_of_member(tables, is_split ? "CompiledMethod" : "nmethod", "_method",
				     &layout->blob_method);
}

/* Sets *out to the offset of a member of 32 bits, in units of 4 bytes. False: the type has no such
 * member, or the offset does not fit. */
static bool read_offset_of_32_bit_member(const struct table *tables, const char *type,
					 const char *member, u8 *out)
{
	u16 offset;

	return read_wide_offset_of_member(tables, type, member, &offset) && !(offset & 3) &&
	       narrow_to_u8(offset / 4, out);
}

/*
 * Reads the offsets of the members that lead to inlined functions. In OpenJDK 17 and 21 the data
 * about compiled code are in the block of the code; OpenJDK 25 has two memory areas apart from the
 * block, for data that never change and for data that do. *end: offset, in units of 4 bytes, of the
 * member that says where the descriptions of addresses (PcDesc) end.
 */
static bool read_scope_member_offsets(const struct table *tables, struct java_layout *layout,
				      u8 *end)
{
	if (!find_vm_table_entry(&tables[MEMBERS], "CodeBlob", "_mutable_data"))
		return read_offset_of_member(tables, "CompiledMethod", "_scopes_data_begin",
					     &layout->scope_data) &&
		       read_offset_of_32_bit_member(tables, "nmethod", "_metadata_offset",
						    &layout->scope_methods) &&
		       read_offset_of_32_bit_member(tables, "nmethod", "_dependencies_offset", end);
	return read_offset_of_member(tables, "nmethod", "_immutable_data", &layout->scope_data) &&
	       read_offset_of_32_bit_member(tables, "CodeBlob", "_relocation_size",
					    &layout->scope_methods) &&
	       read_offset_of_member(tables, "CodeBlob", "_mutable_data", &layout->scope_apart) &&
	       layout->scope_apart &&
	       read_offset_of_32_bit_member(tables, "nmethod", "_scopes_data_offset", end);
}

/*
 * Reads the layout of the data that describe inlined functions, if it is known. No member of the
 * table says which form the numbers in these data have. OpenJDK 17 has the member
 * nmethod::_stack_traversal_mark; OpenJDK 21 and 25 do not have it, and numbers have the later
 * form.
 */
static void read_layout_of_scopes(const struct table *tables, struct java_layout *layout)
{
	u8 end;

	if (read_scope_member_offsets(tables, layout, &end) &&
	    read_offset_of_32_bit_member(tables, "nmethod", "_scopes_pcs_offset",
					 &layout->scope_places) &&
	    end == layout->scope_places + 1 && is_pc_desc_layout_known(tables))
		layout->scope_numbers =
			find_vm_table_entry(&tables[MEMBERS], "nmethod", "_stack_traversal_mark")
				? JAVA_NUMBERS_FROM_0
				: JAVA_NUMBERS_FROM_1;
}

/* Reads the member that leads to the interpreter's code for a method. Without it, frames that the
 * interpreter makes, calls from or returns to are not known. */
static void read_method_entry(const struct table *tables, struct java_layout *layout)
{
	u8 bytes, name, entry;

	if (read_offset_of_member(tables, "InterpreterCodelet", "_size", &bytes) && bytes == 8 &&
	    read_offset_of_member(tables, "InterpreterCodelet", "_description", &name) &&
	    name == 0 && read_offset_of_member(tables, "Method", "_i2i_entry", &entry))
		layout->method_entry = entry;
}

static bool read_layout_of_java_machine(const struct table *tables, struct java_layout *layout)
{
	return read_address_of_static_member(tables, "CodeCache", "_heaps", &layout->heaps) &&
	       read_address_of_static_member(tables, "AbstractInterpreter", "_code",
					     &layout->interpreter) &&
	       read_address_of_static_member(tables, "StubRoutines", "_call_stub_return_address",
					     &layout->call_return) &&
	       read_wide_offset_of_member(tables, "CodeHeap", "_memory", &layout->heap_memory) &&
	       read_wide_offset_of_member(tables, "CodeHeap", "_segmap", &layout->heap_segments) &&
	       read_wide_offset_of_member(tables, "CodeHeap", "_log2_segment_size",
					  &layout->heap_shift) &&
	       read_offset_of_member(tables, "GrowableArrayBase", "_len", &layout->array_count) &&
	       read_offset_of_member(tables, "GrowableArray<int>", "_data", &layout->array_data) &&
	       read_offset_of_member(tables, "VirtualSpace", "_low", &layout->space_low) &&
	       read_offset_of_member(tables, "VirtualSpace", "_high", &layout->space_high) &&
	       read_offset_of_member(tables, "HeapBlock::Header", "_used", &layout->block_used) &&
	       read_size_of_vm_type(tables, "HeapBlock", &layout->block_bytes) &&
	       read_offset_of_member(tables, "StubQueue", "_stub_buffer", &layout->queue_start) &&
	       read_offset_of_member(tables, "StubQueue", "_buffer_limit", &layout->queue_bytes) &&
	       read_offset_of_member(tables, "Method", "_constMethod", &layout->method_const) &&
	       read_offset_of_member(tables, "ConstMethod", "_code_size", &layout->const_count) &&
	       read_size_of_vm_type(tables, "ConstMethod", &layout->const_bytes) &&
	       read_layout_of_code_blob(tables, layout);
}

int script_java_read(struct script_loop *loop)
{
	struct table tables[TABLES] = {{.elf = loop->elf}, {.elf = loop->elf}};
	struct java_layout layout = {};
	u64 vm, offset;
	bool is_read;

	if (!elf_words_exported_address(loop->elf, "JNI_CreateJavaVM", &vm))
		return -ENOENT;
	is_read = script_loop_file_offset(loop, vm, &offset) &&
		  read_exported_vm_table(&tables[MEMBERS], "gHotSpotVMStructs", MEMBER_BYTES) &&
		  read_exported_vm_table(&tables[TYPES], "gHotSpotVMTypes", TYPE_BYTES);
	if (is_read) {
		add_words_stored_by_code(&tables[MEMBERS]);
		is_read = read_layout_of_java_machine(tables, &layout);
		read_method_entry(tables, &layout);
		layout.has_names = is_read && read_layout_of_method_names(tables, &layout);
		if (layout.has_names)
			read_layout_of_scopes(tables, &layout);
	}
	free(tables[MEMBERS].words);
	free(tables[TYPES].words);
	if (!is_read)
		return -ENOENT;
	layout.code_bias = vm - offset;
	loop->layout.runtime = SCRIPT_JAVA;
	loop->layout.java = layout;
	return 0;
}
