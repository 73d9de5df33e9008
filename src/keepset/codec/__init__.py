"""The codec: a closed set of types to bytes and back, exactly and safely.

Values become canonical MessagePack with extensions of ours; docs/codec.md has the wire format.
Data never names code: a class is known by a registered name or not at all.
"""

from keepset.codec.codec import Codec, pack_plain
from keepset.codec.dictionary import Dictionary
from keepset.codec.envelope import compress, decode, decompress, encode
from keepset.codec.fast import bytes_free
from keepset.codec.framing import Buffer, array_header, map_header
from keepset.codec.markers import BlobRef, StoredError, Withheld
from keepset.codec.opaque import Opaque
from keepset.codec.path import Path, format_path
from keepset.codec.portions import portions_of
from keepset.codec.registry import GLOBAL, TypeRegistry, register
from keepset.codec.witness import Witness

__all__ = [
    "GLOBAL",
    "BlobRef",
    "Buffer",
    "Codec",
    "Dictionary",
    "Opaque",
    "Path",
    "StoredError",
    "TypeRegistry",
    "Withheld",
    "Witness",
    "array_header",
    "bytes_free",
    "compress",
    "decode",
    "decompress",
    "encode",
    "format_path",
    "map_header",
    "pack_plain",
    "portions_of",
    "register",
]
