# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The bytes of a recording by type of block, from its block headers (abi/trace_file.h), and its number of events, from its
ledger."""
import json
import os
import struct

from measure import STACKMAP, run

FILE_HEADER_BYTES = 16
BLOCK_HEADER = struct.Struct("<IIBBHIIIIIQQ")
BLOCK_MAGIC = 0x4B4C4253
BLOCK_SYMBOLS = 7


def block_bytes(path):
    """Bytes in the file, headers included, by type of block."""
    sizes = {}
    with open(path, "rb") as file:
        file.seek(FILE_HEADER_BYTES)
        while header := file.read(BLOCK_HEADER.size):
            magic, _, kind, _, _, _, stored, *_ = BLOCK_HEADER.unpack(header)
            assert magic == BLOCK_MAGIC, f"{path}: no block at {file.tell() - BLOCK_HEADER.size}"
            sizes[kind] = sizes.get(kind, 0) + BLOCK_HEADER.size + stored
            file.seek(stored, os.SEEK_CUR)
    return sizes


def bytes_without_symbols(path):
    return os.path.getsize(path) - block_bytes(path).get(BLOCK_SYMBOLS, 0)


def ledger(path):
    return json.loads(run([STACKMAP, "report", "--json", path]))["ledger"]
