/**
 * Random valid profiles as trees, with functions to shuffle and break their members, and a writer that records the line
 * of each member. Tests compare these lines with those of the loader.
 */
import fc from 'fast-check';
import { type Slot, slots } from '../../protocol/slots.ts';

export type Tree = string | { map: [string, Tree][] } | { list: Tree[] };

export interface WrittenTree {
  readonly text: string;
  /** 1-based line by JSON Pointer. */
  readonly lines: ReadonlyMap<string, number>;
}

/** Writes the tree in block style, one member or item per line. */
export function write(tree: Tree): WrittenTree {
  const out: string[] = [];
  const lines = new Map<string, number>();
  const put = (node: Tree, at: string, indent: string) => {
    if (typeof node === 'string') throw new Error('a scalar has no lines of its own');
    if ('list' in node) {
      for (const [index, item] of node.list.entries()) {
        const place = `${at}/${index}`;
        if (typeof item === 'string') out.push(`${indent}- ${item}`);
        else if ('map' in item && item.map.length > 0) {
          const first = out.length;
          put(item, place, `${indent}  `);
          out[first] = `${indent}- ${(out[first] as string).slice(indent.length + 2)}`;
          lines.set(place, first + 1);
        } else out.push(`${indent}- {}`);
        if (!lines.has(place)) lines.set(place, out.length);
      }
      return;
    }
    for (const [key, value] of node.map) {
      const place = `${at}/${key}`;
      lines.set(place, out.length + 1);
      if (typeof value === 'string') out.push(`${indent}${key}: ${value}`);
      else if (('map' in value ? value.map : value.list).length === 0) {
        out.push(`${indent}${key}: ${'map' in value ? '{}' : '[]'}`);
      } else {
        out.push(`${indent}${key}:`);
        put(value, place, `${indent}  `);
      }
    }
  };
  put(tree, '', '');
  return { text: `${out.join('\n')}\n`, lines };
}

const time = fc.constantFrom('250ms', '5s', '2m', '1h', '1d', '1500', '1.5s');
const name = fc.constantFrom('Speed', 'Door_FL', 'X1', '4WD', 'Temp');
const signal = fc.tuple(name, name).map(([message, of]) => `${message}.${of}`);

function members(...entries: (readonly [string, fc.Arbitrary<Tree | undefined>])[]): fc.Arbitrary<Tree> {
  return fc.tuple(...entries.map(([, value]) => value)).map((values) => ({
    map: entries.flatMap(([key], index): [string, Tree][] => {
      const value = values[index];
      return value === undefined ? [] : [[key, value]];
    }),
  }));
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const is = (value: Tree) => fc.constant<Tree | undefined>(value);

/** A YAML value that is valid for the slot. */
function fitting(slot: Slot): fc.Arbitrary<Tree> {
  switch (slot.kind) {
    case 'quantity':
      return fc.integer({ min: slot.minimum ?? 0, max: Math.floor(slot.maximum ?? 100) }).map(String);
    case 'flag':
      return fc.constantFrom('true', 'false');
    case 'enumeration':
      return fc.constantFrom(...(slot.values as readonly string[]));
    case 'set':
      return fc.subarray([...(slot.values as readonly string[])], { minLength: 1 }).map((list) => ({ list }));
    case 'text':
      return slot.duration === true ? fc.constantFrom('PT0S', 'P1DT2H') : fc.constantFrom('some text', '"17"');
    default:
      return fc.integer({ min: 0, max: 2 ** 41 }).map(String);
  }
}

const invalid = fc.uniqueArray(fc.integer({ min: 1000, max: 2000 }).map(String), { minLength: 1, maxLength: 3 });

function sourceOf(slot: Slot, bus: string | undefined, from: fc.Arbitrary<string>): fc.Arbitrary<Tree> {
  const mapped = slot.kind === 'enumeration' || slot.kind === 'set' || (slot.kind === 'text' && !slot.duration);
  const scaled = slot.kind === 'quantity' || slot.kind === 'instant';
  const map = fc
    .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 255 }).map(String), fitting(slot)), {
      selector: ([raw]) => raw,
      minLength: 1,
      maxLength: 5,
    })
    .map((entries) => ({ map: entries }));
  return members(
    ['signal', from],
    ['bus', is(bus ?? '')],
    ['scale', scaled ? maybe(fc.constantFrom('0.5', '2', '-1', '1e-3')) : is('')],
    ['offset', scaled ? maybe(fc.constantFrom('-40', '0', '3.5')) : is('')],
    ['invalid', maybe(invalid.map((list) => ({ list })))],
    ['map', mapped ? map : is('')],
    // Any path may be one that commands depend on.
    ['timeout', fc.constantFrom('1m', '90000', '1h')],
  ).map((tree) => ({ map: (tree as { map: [string, Tree][] }).map.filter(([, value]) => value !== '') }));
}

const mappable = slots.filter((slot) => slot.kind !== 'value');
const door = slots.find((slot) => slot.kind === 'set') as Slot;

/** A valid profile for a folder that contains car.dbc. */
export const validProfile: fc.Arbitrary<Tree> = fc
  .tuple(fc.subarray(mappable, { minLength: 4, maxLength: 12 }), fc.boolean(), fc.integer({ min: 0, max: 2 }))
  .chain(([chosen, twoBuses, constants]) => {
    const fixed = chosen.slice(0, constants).filter((slot) => slot !== door);
    const fed = chosen.filter((slot) => !fixed.includes(slot) && slot !== door);
    const buses = twoBuses ? ['body', 'drive'] : ['body'];
    const bus = twoBuses ? 'drive' : undefined;
    const lock: Tree = { map: [['signal', 'BODY.Lock'], ...(bus ? [['bus', bus] as [string, Tree]] : [])] };
    const locks: Tree = {
      map: [...lock.map, ['map', { map: [['1', { list: [door.values?.[0] as string] }]] }]],
    };
    const listed = fed[0];
    return members(
      ['profile', is('1')],
      ['name', is('car')],
      ['title', maybe(fc.constantFrom('A car', '"No: 1"'))],
      [
        'buses',
        is({
          list: buses.map((of) => ({
            map: [
              ['name', of],
              ['dbc', { list: ['car.dbc'] }],
            ],
          })),
        }),
      ],
      [
        'constants',
        fixed.length === 0
          ? fc.constant(undefined)
          : members(...fixed.map((slot) => [slot.path, fitting(slot)] as const)),
      ],
      [
        'status',
        members(
          ...fed.map(
            (slot) => [slot.path, slot === listed ? listOfTwo(slot, bus) : sourceOf(slot, bus, signal)] as const,
          ),
          [door.path, is(locks)],
        ),
      ],
      [
        'telemetry',
        maybe(
          members(
            ['default', maybe(members(['interval', maybe(time)], ['heartbeat', is('2d')]))],
            ...fed
              .filter((slot) => slot.kind === 'quantity')
              .map(
                (slot) =>
                  [
                    slot.path,
                    members(
                      ['interval', maybe(time)],
                      ['deadBand', maybe(fc.constantFrom('0', '0.5'))],
                      ['heartbeat', is('2d')],
                    ),
                  ] as const,
              ),
          ),
        ),
      ],
      [
        'waypoints',
        maybe(
          members(
            ['interval', maybe(time)],
            ['distance', maybe(is('25'))],
            ['heading', is('10')],
            ['error', maybe(is('5'))],
          ),
        ),
      ],
      ['commands', maybe(command(bus))],
    );
  });

function listOfTwo(slot: Slot, bus: string | undefined): fc.Arbitrary<Tree> {
  return fc
    .tuple(sourceOf(slot, bus, fc.constant('A.One')), sourceOf(slot, bus, fc.constant('A.Two')))
    .map((list) => ({ list }));
}

function command(bus: string | undefined): fc.Arbitrary<Tree> {
  const send = members(
    ['bus', fc.constant(bus)],
    ['message', is('BODY_COMMAND')],
    [
      'signals',
      is({
        map: [
          ['LockRequest', '1'],
          ['Mode', 'Remote'],
        ],
      }),
    ],
    ['every', is('50ms')],
    ['for', is('500ms')],
    ['counter', is('Counter')],
    [
      'checksum',
      maybe(
        fc.constantFrom<Tree>(
          {
            map: [
              ['signal', 'Checksum'],
              ['method', 'xor'],
            ],
          },
          {
            map: [
              ['signal', 'Checksum'],
              ['method', 'autosar-p1'],
              ['dataId', '291'],
            ],
          },
        ),
      ),
    ],
  );
  const confirm = is({
    map: [
      ['path', door.path],
      ['includes', door.values?.[0] as string],
    ],
  });
  return members([
    'doors',
    members(['lock', members(['send', send], ['confirm', confirm], ['within', maybe(fc.constantFrom('5s', '8000'))])]),
  ]);
}

/** Returns the tree with shuffled members in every map. */
export function shuffled(tree: Tree, random: () => number): Tree {
  if (typeof tree === 'string') return tree;
  if ('list' in tree) return { list: tree.list.map((item) => shuffled(item, random)) };
  const keyed = tree.map.map((entry) => ({ entry, key: random() })).sort((a, b) => a.key - b.key);
  return { map: keyed.map(({ entry: [key, value] }) => [key, shuffled(value, random)]) };
}

/** Returns all members and items of the tree by pointer. */
export function places(tree: Tree, at = ''): [string, Tree][] {
  if (typeof tree === 'string') return [];
  const children: [string, Tree][] =
    'map' in tree
      ? tree.map.map(([key, value]) => [`${at}/${key}`, value])
      : tree.list.map((item, index) => [`${at}/${index}`, item]);
  return children.flatMap(([place, value]) => [[place, value] as [string, Tree], ...places(value, place)]);
}

/** Returns the tree with the member at `at` changed by `change`, or removed if that returns undefined. */
export function changed(
  tree: Tree,
  at: string,
  change: (key: string, value: Tree) => [string, Tree] | undefined,
): Tree {
  if (typeof tree === 'string') return tree;
  const [, step = '', ...rest] = at.split('/');
  const deeper = (value: Tree) => changed(value, `/${rest.join('/')}`, change);
  if ('list' in tree) {
    return {
      list: tree.list.flatMap((item, index) => {
        if (String(index) !== step) return [item];
        if (rest.length > 0) return [deeper(item)];
        const result = change(step, item);
        return result === undefined ? [] : [result[1]];
      }),
    };
  }
  return {
    map: tree.map.flatMap(([key, value]): [string, Tree][] => {
      if (key !== step) return [[key, value]];
      if (rest.length > 0) return [[key, deeper(value)]];
      const result = change(key, value);
      return result === undefined ? [] : [result];
    }),
  };
}
