"""Small pictures of pages: a font that is the same on every machine, and PNG files without a library."""

import base64
import struct
import zlib

EM, ADVANCE, ASCENT, DESCENT = 1000, 600, 800, 200
CHARACTERS = (0x21, 0x26ff)


def box_font():
    """A TrueType font whose characters are all the same box, so that texts have one size everywhere."""
    box = struct.pack('>hhhhh', 1, 60, 0, 540, 560)  # one contour, bounds
    box += struct.pack('>HH', 3, 0) + bytes([1] * 4)  # its last point, no instructions, points on the curve
    box += struct.pack('>hhhh', 60, 0, 480, 0) + struct.pack('>hhhh', 0, 560, 0, -560)
    first, last = CHARACTERS
    count = last - first + 1
    ends, starts = (0x20, last, 0xffff), (0x20, first, 0xffff)
    offsets = (0, 4, 0)  # of the second segment: two entries further, the list of glyphs begins
    segments = struct.pack('>HHHH', 6, 4, 1, 2) + struct.pack('>3HH', *ends, 0) + struct.pack('>3H', *starts)
    segments += struct.pack('>3H', (2 - 0x20) & 0xffff, 0, 1) + struct.pack('>3H', *offsets)
    segments += struct.pack('>H', 1) * count
    cmap = struct.pack('>HHHHL', 0, 1, 3, 1, 12)
    cmap += struct.pack('>HHH', 4, len(segments) + 6, 0) + segments
    names = 'Boxes'.encode('utf-16-be')
    tables = {
        'OS/2': struct.pack('>HhHHH10hh10sLLLL4sHHHhhhHHLL', 3, ADVANCE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350,
                            50, 250, 0, bytes(10), 1, 0, 0, 0, b'none', 0x40, 0x20, last, ASCENT, -DESCENT, 0, ASCENT,
                            DESCENT, 1, 0) + struct.pack('>hhHHH', 560, 560, 0, 32, 1),
        'cmap': cmap,
        'glyf': box,
        'head': struct.pack('>LLLLHHQQhhhhHHhhh', 0x10000, 0x10000, 0, 0x5f0f3cf5, 3, EM, 0, 0, 60, 0, 540, 560, 0, 8,
                            2, 0, 0),
        'hhea': struct.pack('>LhhhHhhhhhh4hhH', 0x10000, ASCENT, -DESCENT, 0, ADVANCE, 60, 60, 540, 1, 0, 0, 0, 0, 0,
                            0, 0, 1),
        'hmtx': struct.pack('>Hhhh', ADVANCE, 60, 60, 0),
        'loca': struct.pack('>4H', 0, 0, len(box) // 2, len(box) // 2),
        'maxp': struct.pack('>LHHHHHHHHHHHHHH', 0x10000, 3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        'name': struct.pack('>HHH', 0, 2, 30) + b''.join(
            struct.pack('>6H', 3, 1, 0x409, name, len(names), 0) for name in (1, 4)) + names,
        'post': struct.pack('>LLhhLLLLL', 0x30000, 0, -75, 50, 1, 0, 0, 0, 0),
    }
    font = struct.pack('>LHHHH', 0x10000, len(tables), 128, 3, len(tables) * 16 - 128)
    offset, data = len(font) + 16 * len(tables), b''
    for tag, table in sorted(tables.items()):
        padded = table + bytes(-len(table) % 4)
        total = sum(struct.unpack(f'>{len(padded) // 4}L', padded)) & 0xffffffff
        font += tag.encode() + struct.pack('>LLL', total, offset + len(data), len(table))
        data += padded
    return font + data


def use_box_font():
    """JavaScript that shows the page in that font, without borders of another browser's own making."""
    font = base64.b64encode(box_font()).decode()
    return f'''(async () => {{
      const font = new FontFace('Boxes', 'url(data:font/ttf;base64,{font})');
      document.fonts.add(await font.load());
      const style = document.createElement('style');
      style.textContent = '* {{ font-family: Boxes !important; }} summary {{ list-style: none; }}';
      document.head.append(style);
      await document.fonts.ready;
      return document.fonts.check('12px Boxes');
    }})()'''


def read_png(data):
    """Width, height and the rows of a PNG file with 8 bits a channel; each pixel is (red, green, blue)."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n', 'not a PNG file'
    at, packed = 8, b''
    while at < len(data):
        length, kind = struct.unpack('>L4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b'IHDR':
            width, height, depth, colours, _, _, interlaced = struct.unpack('>LLBBBBB', body)
            assert depth == 8 and colours in (2, 6) and not interlaced, 'a PNG file of another form'
        elif kind == b'IDAT':
            packed += body
        at += length + 12
    size = 4 if colours == 6 else 3
    raw, rows, above = zlib.decompress(packed), [], bytearray(width * size)
    for y in range(height):
        begin = y * (width * size + 1)
        above = unfiltered(raw[begin], raw[begin + 1:begin + 1 + width * size], above, size)
        rows.append([tuple(above[i:i + 3]) for i in range(0, width * size, size)])
    return width, height, rows


def unfiltered(kind, line, above, size):
    """A row of a PNG file, from its filtered bytes and the row above."""
    row = bytearray(line)
    for i, byte in enumerate(row):
        left = row[i - size] if i >= size else 0
        up, corner = above[i], above[i - size] if i >= size else 0
        if kind == 1:
            more = left
        elif kind == 2:
            more = up
        elif kind == 3:
            more = (left + up) // 2
        elif kind == 4:
            guess = left + up - corner
            more = min((left, up, corner), key=lambda each, guess=guess: abs(guess - each))
        else:
            more = 0
        row[i] = (byte + more) & 0xff
    return row


def blocks(rows, size):
    """The mean colours of squares of `size` pixels, with those at the edges that are smaller."""
    means = []
    for top in range(0, len(rows), size):
        line = []
        for left in range(0, len(rows[0]), size):
            pixels = [pixel for row in rows[top:top + size] for pixel in row[left:left + size]]
            line.append(tuple(sum(channel) / len(pixels) for channel in zip(*pixels)))
        means.append(line)
    return means


def difference(one, other, size=4, most=16):
    """How two pictures differ, in words; '' if they are alike.

    Alike: the heights differ by at most 2 % and a pixel. At most 2 % of the squares of `size` pixels have colours
    that differ by more than `most` of 255 in a channel."""
    (width, height, rows), (wanted_width, wanted_height, wanted_rows) = read_png(one), read_png(other)
    if width != wanted_width or abs(height - wanted_height) > 1 + wanted_height * 0.02:
        return f'the size is {width} x {height} instead of {wanted_width} x {wanted_height}'
    common = min(height, wanted_height)
    pairs = [(a, b) for line, wanted in zip(blocks(rows[:common], size), blocks(wanted_rows[:common], size))
             for a, b in zip(line, wanted)]
    unlike = sum(max(abs(x - y) for x, y in zip(a, b)) > most for a, b in pairs)
    return '' if unlike <= len(pairs) * 0.02 else f'{unlike} of {len(pairs)} squares differ'
