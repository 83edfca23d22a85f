"""Decodes messages of cars with nothing beside Python but cbor2 (receiving.md). VIGIE_TABLES: folder of the tables.
decode(payload, catalogs) takes a dict for each car, at first empty, which keeps what its custom signals are."""
import base64, cbor2, io, json, os, re, sys, zlib
from decimal import Decimal
from itertools import accumulate, islice as take
TABLES = os.environ.get('VIGIE_TABLES', os.path.join(os.path.dirname(__file__), '..', 'protocol', 'generated'))
shapes, numbered, slots, description = (json.load(open(os.path.join(TABLES, f'{name}.json'), encoding='utf-8'))
                                        for name in ('dictionary', 'slot-numbers', 'slots', 'asyncapi'))
DICTIONARY, SLOTS = b''.join(map(base64.b64decode, shapes)), {int(slot['id'], 16): slot for slot in slots}
SCHEMAS = {kind: it['payload'] for one in description['channels'].values() for kind, it in one['messages'].items()}
FLAGS = {'extended': 31, 'remote': 30, 'error': 29, 'fd': 32, 'bitRateSwitch': 33, 'errorState': 34, 'sent': 35}
LEB128 = re.compile(rb'[\x80-\xff]*[\x00-\x7f]')

def numbers(data): return (sum((byte & 127) << 7 * i for i, byte in enumerate(one)) for one in LEB128.findall(data))
def signed(source, count): return [number >> 1 ^ -(number & 1) for number in take(source, count)]
def sums(first, differences): return list(accumulate(differences, initial=first))

def unpacked(packed):
    content = zlib.decompressobj(-15, zdict=DICTIONARY).decompress(packed[LEB128.match(packed).end():])
    shape = cbor2.CBORDecoder(io.BytesIO(content)).decode()
    source = numbers(content[len(cbor2.dumps(shape, canonical=True)):])
    def filled(item):  # The integers of the shape, but for the keys of maps, are zeros in place of the numbers.
        if isinstance(item, dict): return {key: filled(value) for key, value in item.items()}
        if isinstance(item, list): return [filled(value) for value in item]
        return signed(source, 1)[0] if type(item) is int else item
    return filled(shape)

def value_of(it, count):
    names = {name['count']: name['name'] for name in it.get('names', [])}
    if it.get('kind') == 'set': return [name for bit, name in names.items() if count >> bit & 1]
    if it.get('kind') == 'flag' or names: return names.get(count, count) if names else count != 0
    value = Decimal(count) * Decimal(repr(it.get('resolution', 1))) + Decimal(repr(it.get('offset', 0)))
    return int(value) if value == int(value) else float(value)

def series_of(start, columns, known, title):
    source, found = numbers(zlib.decompress(columns, -15)), []
    for resolution in source:
        (size, interval, table), ids, number = take(source, 3), [], 0
        for ahead in take(source, size):
            number += ahead
            ids.append(number if title == 'name' else int(numbered[number - 1], 16) if ahead else next(source))
        lengths, steps, firsts = [less + 1 for less in take(source, size)], [*take(source, size)], signed(source, size)
        periods = [signed(source, n) if interval else [0] * n for n in ([table] if table else lengths)]
        ticks = [sums(-interval, ((period + 1) * interval + off for period, off in zip(one, signed(source, len(one)))))
                 for one in periods]
        if table: ticks = [[ticks[0][at] for at in sums(0, (gap + 1 for gap in signed(source, n)))] for n in lengths]
        for id, one, first, step, n in zip(ids, ticks, firsts, steps, lengths):
            it, counts = known.get(id, {title: f'#{id}'}), sums(first, (gap * step for gap in signed(source, n - 1)))
            at, values = [start + tick * resolution for tick in one[1:]], [value_of(it, count) for count in counts]
            found.append((id, {**{key: it[key] for key in (title, 'unit') if key in it}, 'at': at, 'values': values}))
    return [series for _, series in sorted(found, key=lambda one: one[0])]

def points_of(columns):
    source = numbers(columns)
    points, members = [{} for _ in range(next(source))], next(source)
    for key in take(source, members):
        having, rest, has = [], points, 1
        while rest:
            run = next(source)
            having, rest, has = having + rest[:run * has], rest[run:], 1 - has
        if having:
            step, first, *differences = [next(source), *signed(source, len(having))]
            for point, value in zip(having, sums(first, (ahead * step for ahead in differences))): point[key] = value
    return points

def frames_of(start, columns, buses):
    data, frames = zlib.decompress(columns, -15), {}
    source = numbers(data)
    total, size = take(source, 2)
    series = list(zip(*[[*take(source, size)] for _ in range(6)], signed(source, size)))
    times = [at for *_, more, gap, first in series for at in sums(first, (gap + late for late in signed(source, more)))]
    order = sorted(range(total), key=times.__getitem__)
    places = {frame: place + ahead for place, (frame, ahead) in enumerate(zip(order, signed(source, total)))}
    payloads = iter(data[[*take(LEB128.finditer(data), 2 + 6 * size + 2 * total)][-1].end():])
    for bus, id, flags, length, more, *_ in series:
        rows = [[*accumulate(take(payloads, more + 1))] for _ in range(0 if id >> 30 & 1 else length)]
        bits = {name: True for name, bit in FLAGS.items() if (flags << 32 | id) >> bit & 1}
        for i in range(more + 1):
            at, payload = start + times[len(frames)] / 1000, bytes(row[i] & 255 for row in rows).hex()
            frames[places[len(frames)]] = {'at': at, 'bus': buses[bus], 'id': id & 0x1fffffff, 'data': payload, **bits}
    return [frames[place] for place in range(total)]

def decode(payload, catalogs):
    wire, units = cbor2.loads(payload), {}
    wire = unpacked(wire) if isinstance(wire, bytes) else wire
    kind = SCHEMAS['status']['properties']['kind']['x-values'][wire[2]]
    if kind == 'waypoint' and 2 in wire[7]: wire[7] = {1: points_of(wire[7][2])}
    def named(schema, item, path):
        if item is None or 'const' in schema: return schema.get('const')
        if isinstance(item, list):
            of = schema['items']
            if isinstance(of, dict): return [named(of, one, f'{path}[]') for one in item]
            return [named(of[i], one, f'{path}[{i}]') for i, one in enumerate(item)]
        if 'properties' in schema:
            parts = schema['properties'].items()
            found = ((name, named(part, item.get(part.get('x-key')), f'{path}.{name}')) for name, part in parts)
            return spread({name: value for name, value in found if value is not None})
        if 'x-values' in schema: return dict(enumerate(schema['x-values'])).get(item)
        if 'x-instant' in schema: return wire[5] - item
        if schema.get('x-unit', '1') != '1': units[path] = schema['x-unit']
        if schema.get('x-resolution'): return value_of({'resolution': schema['x-resolution']}, item)
        return item == 1 if schema.get('type') == 'boolean' else item
    def spread(it):
        if isinstance(it.get('catalog'), bytes): it['catalog'] = it['catalog'].hex()
        if 'entries' in it: catalogs.setdefault(it['catalog'], {}).update({one['number']: one for one in it['entries']})
        if 'stale' in it: it['stale'] = [SLOTS.get(id, {'path': f'#{id}'})['path'] for id in it['stale']]
        if 'start' not in it or 'columns' not in it: return it
        start, columns, _, signals = it.pop('start'), it.pop('columns'), it.pop('size'), it.get('signals')
        if 'buses' in it: return {**it, 'rawFrames': frames_of(start, columns, it['buses'])}
        found = {'series': series_of(start, columns, SLOTS, 'path')}
        series = signals and series_of(start, signals['columns'], catalogs.get(signals['catalog'], {}), 'name')
        return {**found, 'catalog': signals['catalog'], 'signals': series} if signals else found
    message = named(SCHEMAS[kind], wire, '')
    return {**message, 'units': {path[6:]: unit for path, unit in units.items() if path.startswith('.body.')}}

if __name__ == '__main__':
    cars = {}
    for topic, payload in (line.split() for line in sys.stdin if ' ' in line.strip()):
        message = decode(bytes.fromhex(payload), cars.setdefault(topic.split('/')[2], {}))
        print(json.dumps({'topic': topic, **message}), flush=True)
