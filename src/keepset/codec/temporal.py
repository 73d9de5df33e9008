"""Dates and times, to the microsecond, with their zone by name and the fold of a repeated hour."""

from __future__ import annotations

import datetime as dt
import struct
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from keepset.codec import tags
from keepset.codec.failures import bad, malformed, refused, type_name
from keepset.codec.nodes import Form, Leaf, Read

_STAMP = struct.Struct(">HBBBBBIB")
_DAY = struct.Struct(">HBB")
_CLOCK = struct.Struct(">BBBIB")
_SPAN = struct.Struct(">iiI")
_OFFSET = struct.Struct(">iiI?")
_LONGEST_KEY = 255


def _write_datetime(value: dt.datetime) -> bytes:
    day, clock = (value.year, value.month, value.day), (value.hour, value.minute, value.second)
    return _STAMP.pack(*day, *clock, value.microsecond, value.fold) + _write_zone(value.tzinfo)


def _read_datetime(data: bytes) -> dt.datetime:
    year, month, day, *clock, fold = _STAMP.unpack_from(data)
    zone = _read_zone(data[_STAMP.size :])
    return dt.datetime.combine(dt.date(year, month, day), _clock(clock, zone, fold))


def _write_date(value: dt.date) -> bytes:
    return _DAY.pack(value.year, value.month, value.day)


def _read_date(data: bytes) -> dt.date:
    return dt.date(*_DAY.unpack(data))


def _write_time(value: dt.time) -> bytes:
    clock = (value.hour, value.minute, value.second, value.microsecond, value.fold)
    return _CLOCK.pack(*clock) + _write_zone(value.tzinfo)


def _read_time(data: bytes) -> dt.time:
    *clock, fold = _CLOCK.unpack_from(data)
    return _clock(clock, _read_zone(data[_CLOCK.size :]), fold)


def _clock(parts: list[int], zone: dt.tzinfo | None, fold: int) -> dt.time:
    hour, minute, second, microsecond = parts
    return dt.time(hour, minute, second, microsecond, zone, fold=fold)


def _write_timedelta(value: dt.timedelta) -> bytes:
    return _SPAN.pack(value.days, value.seconds, value.microseconds)


def _read_timedelta(data: bytes) -> dt.timedelta:
    fields = _SPAN.unpack(data)
    value = dt.timedelta(*fields)
    if (value.days, value.seconds, value.microseconds) != fields:
        raise malformed("time span")
    return value


def _write_zone(zone: dt.tzinfo | None) -> bytes:
    """Write nothing for none, ``U`` for UTC, ``O`` and an offset with its name, ``Z`` and a key."""
    if zone is None:
        return b""
    if zone is dt.UTC:
        return b"U"
    if type(zone) is ZoneInfo and zone.key:
        return b"Z" + zone.key.encode()
    if type(zone) is not dt.timezone:
        raise refused(
            f"a time zone of type {type_name(type(zone))} cannot be stored",
            "codec.time-zone",
            "Use zoneinfo.ZoneInfo with a key, datetime.timezone or no time zone.",
        )
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]  # what pickle uses
    text = name[0].encode("utf-8", "surrogatepass") if name else b""
    parts = (offset.days, offset.seconds, offset.microseconds, bool(name))
    return b"O" + _OFFSET.pack(*parts) + text


def _read_zone(data: bytes) -> dt.tzinfo | None:
    kind, rest = data[:1], data[1:]
    if not data:
        return None
    if kind == b"U" and not rest:
        return dt.UTC
    if kind == b"Z":
        return _named_zone(rest)
    if kind != b"O":
        raise malformed("time zone")
    *span, named = _OFFSET.unpack_from(rest)
    text = rest[_OFFSET.size :].decode("utf-8", "surrogatepass")
    if text and not named:
        raise malformed("time zone")
    offset = dt.timedelta(*span)
    return dt.timezone(offset, text) if named else dt.timezone(offset)


def _named_zone(data: bytes) -> ZoneInfo:
    key = data.decode("ascii")
    try:
        if len(key) <= _LONGEST_KEY:
            return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise bad(
        "the time zone of a stored value is not known on this machine",
        "decode.time-zone",
        "Install the package tzdata, or the system's time zone database.",
    )


FORMS: dict[type, Form] = {
    dt.datetime: Leaf(tags.DATETIME, _write_datetime),
    dt.date: Leaf(tags.DATE, _write_date),
    dt.time: Leaf(tags.TIME, _write_time),
    dt.timedelta: Leaf(tags.TIMEDELTA, _write_timedelta),
}
READERS: dict[int, Read] = {
    tags.DATETIME: _read_datetime,
    tags.DATE: _read_date,
    tags.TIME: _read_time,
    tags.TIMEDELTA: _read_timedelta,
}
