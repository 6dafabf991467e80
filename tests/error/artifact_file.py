"""An artifact's frame, for tests that edit one and make its hashes right again (serialize/schema/artifact_header.h)."""

import hashlib
import struct

HEADER = struct.Struct("<8sIIQII32s32s")
ENTRY = struct.Struct("<II32sQQ32s")
METADATA, CODE, DEBUG, WEIGHTS = 1, 2, 3, 4


class ArtifactFile:
    """The parts of an artifact: header fields, offsets, directory and segments, to change and put together again."""

    def __init__(self, data):
        (self.magic, self.format_version, self.minimum_reader_version, self.total_size, self.header_size, count,
         self.reserved, self.root_hash) = HEADER.unpack_from(data, 0)  # fmt: skip
        self.data = bytearray(data)
        self.offsets = list(struct.unpack_from(f"<{count}Q", data, HEADER.size))
        start = HEADER.size + 8 * count
        self.directory = [list(ENTRY.unpack_from(data, start + ENTRY.size * i)) for i in range(count)]

    def segment(self, kind):
        """(offset, size) of the first segment of a kind."""
        for offset, entry in zip(self.offsets, self.directory):
            if entry[0] == kind:
                return offset, entry[3]
        raise KeyError(kind)

    def flip(self, kind, position, mask=0xFF):
        """Changes one byte of a segment."""
        offset, size = self.segment(kind)
        self.data[offset + position % size] ^= mask
        return self

    def reseal(self):
        """Makes every hash right again, so that only what the hashes guard can refuse the file."""
        for offset, entry in zip(self.offsets, self.directory):
            if offset and offset + entry[3] <= len(self.data):
                entry[5] = hashlib.sha256(self.data[offset : offset + entry[3]]).digest()
        packed = b"".join(ENTRY.pack(*entry) for entry in self.directory)
        self.root_hash = hashlib.sha256(packed).digest()
        return self

    def bytes(self):
        """The file with its header, offsets and directory written anew."""
        head = HEADER.pack(self.magic, self.format_version, self.minimum_reader_version, self.total_size, self.header_size,
                           len(self.directory), self.reserved, self.root_hash)  # fmt: skip
        head += struct.pack(f"<{len(self.offsets)}Q", *self.offsets) + b"".join(ENTRY.pack(*e) for e in self.directory)
        self.data[: len(head)] = head
        return bytes(self.data)
