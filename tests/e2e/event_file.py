"""Writes a TensorFlow event file: one scalar as a simple value, framed as TFRecord."""

import struct


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc32c(data)
    return struct.pack('<I', ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(step, tag, value):
    """An Event of less than 128 bytes: wall_time 1, step 2, summary 5 {value 1 {tag 1, float 2}}."""
    name = tag.encode()
    scalar = b'\x0a' + bytes([len(name)]) + name + b'\x15' + struct.pack('<f', value)
    summary = b'\x0a' + bytes([len(scalar)]) + scalar
    event = (b'\x09' + struct.pack('<d', 1.5) + b'\x10' + bytes([step]) + b'\x2a' +
             bytes([len(summary)]) + summary)
    head = struct.pack('<Q', len(event))
    return head + masked(head) + event + masked(event)
