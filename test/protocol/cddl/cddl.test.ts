import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { encodeMessage } from '../../../protocol/cbor/message.ts';
import { unpack } from '../../../protocol/cbor/packing.ts';
import { cddlOf } from '../../../protocol/cddl.ts';
import {
  bytes,
  constant,
  enumeration,
  flag,
  instant,
  list,
  optional,
  quantity,
  record,
  required,
  type TSchema,
  text,
  tuple,
} from '../../../protocol/schema/fields.ts';
import { type BodyKind, bodies, type Message, messageSchema } from '../../../protocol/schema/message.ts';
import { vigieCddl } from '../../../protocol/vigie-cddl.ts';
import { BASE, valuesOf } from '../cbor/arbitrary.ts';
import { matchCddl } from './matcher.ts';
import { parseCddl } from './parser.ts';

const d = 'of the test';

const place = record('Place', d, {
  type: required(2, constant('Point', d)),
  coordinates: required(
    1,
    tuple<[number] | [number, number]>(d, 1, [quantity('deg', 0.1, [-180, 180], d), quantity('m', 0, [-0.5, 9000], d)]),
  ),
});
const car = record('Car', d, {
  speed: optional(3, quantity('km/h', 0.01, [0, 300], d)),
  gear: required(1, enumeration(d, ['P', '1st', 'Low/High'])),
  level: optional(24, quantity('1', 0, [], d)),
  odometer: optional(5, quantity('km', 1, [0], d)),
  temperature: optional(6, quantity('degC', 1, [undefined, -1], d)),
  pressure: optional(7, quantity('hPa', 0, [1], d)),
  at: optional(8, instant(d)),
  open: optional(9, flag(d)),
  name: optional(10, text(d, { maxLength: 8, pattern: '^[a-z]*$' })),
  raw: optional(11, bytes(d, { maxLength: 4 })),
  places: optional(12, list(d, place, { minItems: 1, maxItems: 3 })),
  days: optional(13, list(d, enumeration(d, ['Mon', 'Tue']))),
  none: optional(14, record('None', d, {})),
});

test('golden: a schema with one member of each type', () => {
  expect(
    cddlOf({ message: [car] })
      .split('\n')
      .slice(6)
      .join('\n'),
  ).toBe(`message = Car

Car = {
  k1 => Car.gear, ; gear
  ? k3 => 0..30000, ; speed, x 0.01 km/h
  ? k5 => uint, ; odometer, km
  ? k6 => int .le -1, ; temperature, degC
  ? k7 => float .ge 1.0, ; pressure, hPa
  ? k8 => instant, ; at
  ? k9 => bool, ; open
  ? k10 => tstr .size (0..32), ; name, at most 8 characters, matches ^[a-z]*$
  ? k11 => bstr .size (0..4), ; raw
  ? k12 => [1*3 Place], ; places
  ? k13 => [* Car.days], ; days
  ? k14 => None, ; none
  ? k24 => float, ; level
}

Car.gear =
  0 / ; P
  1 / ; 1st
  2 ; Low/High

Place = {
  ; type is "Point", not sent
  k1 => [Place.coordinates.0, ? Place.coordinates.1], ; coordinates, x 0.1 deg, m
}

Place.coordinates.0 = -1800..1800

Place.coordinates.1 = -0.5..9000.0

Car.days =
  0 / ; Mon
  1 ; Tue

None = {}

instant = int ; milliseconds before the at of the message, negative when after it

k1 = 1
k3 = 3
k5 = 5
k6 = 6
k7 = 7
k8 = 8
k9 = 9
k10 = 10
k11 = 11
k12 = 12
k13 = 13
k14 = 14
k24 = 24
`);
});

test('every output of the codec matches the CDDL', () => {
  const cddl = cddlOf({ car: [car] });
  const codec = compile(car);
  fc.assert(
    fc.property(valuesOf(car), (value) => {
      expect(matchCddl(cddl, 'Car', codec.encode(value, BASE))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('a value just outside a limit matches neither the CDDL nor the codec', () => {
  const bounded = (minimum: number, maximum: number) =>
    record('B', d, { v: required(0, quantity('m', 0.1, [minimum, maximum], d)) });
  fc.assert(
    fc.property(fc.integer({ min: -1000, max: 1000 }), fc.nat(1000), fc.boolean(), (least, span, above) => {
      const cddl = cddlOf({ b: [bounded(least, least + span)] });
      const inside = compile(bounded(least, least + span));
      const outside = compile(bounded(-5000, 5000));
      const v = above ? least + span + 0.1 : least - 0.1;
      const encoding = outside.encode({ v }, 0);
      expect(matchCddl(cddl, 'B', encoding)).toHaveLength(1);
      expect(() => inside.decode(encoding, 0)).toThrow(/^v must be/);
      expect(() => inside.encode({ v }, 0)).toThrow(/^v must be/);
    }),
  );
});

describe('a schema that CDDL cannot represent is refused', () => {
  test.each<[string, TSchema, RegExp]>([
    [
      'two records of one title',
      record('R', d, {
        a: required(1, record('S', d, {})),
        b: required(2, record('S', d, { c: required(1, flag(d)) })),
      }),
      /two different schemas have the title S/,
    ],
    ['a title that is not a rule name', record('My record', d, {}), /title My record is not a CDDL rule name/],
    ['a constant in a list', record('R', d, { a: required(1, list(d, constant('x', d))) }), /R\.a is a constant/],
  ])('%s', (_, schema, message) => {
    expect(() => cddlOf({ root: [schema] })).toThrow(
      expect.objectContaining({ code: 'configuration.wrong', message: expect.stringMatching(message) }),
    );
  });
});

describe('messages', () => {
  const kinds = Object.keys(bodies) as BodyKind[];
  const cddl = vigieCddl();

  test('are described by CDDL with `message` as its root', () => {
    expect([...parseCddl(cddl).keys()][0]).toBe('message');
  });

  test.each(kinds)('%s: every encoded message matches its rule and the root', (kind) => {
    const rule = (messageSchema(kind) as { title?: string }).title!;
    fc.assert(
      fc.property(valuesOf(messageSchema(kind)) as fc.Arbitrary<Message>, (value) => {
        const encoding = encodeMessage({ ...value, version: 1, kind } as Message);
        expect(matchCddl(cddl, rule, unpack(encoding))).toEqual([]);
        expect(matchCddl(cddl, 'message', encoding)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});
