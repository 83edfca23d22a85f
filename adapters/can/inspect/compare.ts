/** Differences between two recordings of the same car, such as one with a door open and one with it shut. */
import type { ObservedMessage } from './observed-message.ts';
import type { ObservedBus, Traffic } from './traffic.ts';

/** Adjacent bits of a byte that differ in the same way; or an identifier that only one recording has. */
export interface Difference {
  /** Name of the bus in the first recording that has it. */
  readonly bus: string;
  /** Identifier with EXTENDED bit. */
  readonly id: number;
  /**
   * `only`: one recording has the identifier. `value`: the bits are constant in each recording, with different values.
   * `changes`: the bits are constant in one recording and change in the other. `length`: the usual payload lengths
   * differ.
   */
  readonly kind: 'only' | 'value' | 'changes' | 'length';
  /** Position of the lowest bit, byte × 8 + bit within the byte, and the number of bits. */
  readonly start?: number;
  readonly bits?: number;
  readonly first: RecordingSide;
  readonly second: RecordingSide;
  /** True if the bits belong to a counter or checksum, which changes with other bits. */
  readonly protection?: boolean;
}

/** One recording's side of a difference. */
export interface RecordingSide {
  /** Number of data frames of the identifier; 0 if it does not occur. */
  readonly frames: number;
  /** The value of constant bits; for the kind `length`, the payload length. */
  readonly value?: number;
  /**
   * The number of changes of the bit that changes most, and the time in UTC ms at which any of the bits first changed.
   */
  readonly flips?: number;
  readonly changedAt?: number;
  /** The payload of the last frame. */
  readonly latest?: Uint8Array;
}

/**
 * Returns the differences, the likeliest effect of an action first: a switch changes few bits of a message, and rarely;
 * a measured value changes many, or often. Then identifiers and lengths; counters and checksums are last.
 */
export function compareTraffic(first: Traffic, second: Traffic): Difference[] {
  const found = busesOf(first, second).flatMap(([one, other]) => compareBuses(one, other));
  const differing = new Map<string, number>();
  const keyOf = ({ bus, id }: Difference): string => `${bus} ${id}`;
  for (const one of found) {
    if (one.protection !== true) differing.set(keyOf(one), (differing.get(keyOf(one)) ?? 0) + (one.bits ?? 0));
  }
  // A constant value that differs between the recordings counts as one change.
  const flips = ({ first, second }: Difference): number => Math.max(1, first.flips ?? 0, second.flips ?? 0);
  const score = (one: Difference): number => flips(one) + (differing.get(keyOf(one)) ?? 0);
  const group = ({ protection, start }: Difference): number => (protection === true ? 2 : start === undefined ? 1 : 0);
  return found.sort(
    (a, b) => group(a) - group(b) || score(a) - score(b) || a.id - b.id || (a.start ?? -1) - (b.start ?? -1),
  );
}

/** Returns pairs of buses with the same name. If each recording has only one bus, returns the pair of these. */
function busesOf(first: Traffic, second: Traffic): [ObservedBus | undefined, ObservedBus | undefined][] {
  if (first.buses.length === 1 && second.buses.length === 1) return [[first.buses[0], second.buses[0]]];
  const names = new Set([...first.buses, ...second.buses].map(({ name }) => name));
  const named = (traffic: Traffic, name: string) => traffic.buses.find((bus) => bus.name === name);
  return [...names].map((name) => [named(first, name), named(second, name)]);
}

function compareBuses(first: ObservedBus | undefined, second: ObservedBus | undefined): Difference[] {
  const messages = (bus: ObservedBus | undefined) =>
    new Map((bus?.messages ?? []).filter(({ frames }) => frames > 0).map((message) => [message.id, message]));
  const [own, others] = [messages(first), messages(second)];
  const bus = (first ?? second)!.name;
  return [...new Set([...own.keys(), ...others.keys()])].flatMap((id) =>
    compareMessages(bus, id, own.get(id), others.get(id)),
  );
}

function compareMessages(
  bus: string,
  id: number,
  first: ObservedMessage | undefined,
  second: ObservedMessage | undefined,
): Difference[] {
  if (first === undefined || second === undefined) {
    return [{ bus, id, kind: 'only', first: { frames: first?.frames ?? 0 }, second: { frames: second?.frames ?? 0 } }];
  }
  const [shorter, longer] = [first.commonestLength, second.commonestLength];
  const lengths: Difference = {
    bus,
    id,
    kind: 'length',
    first: { frames: first.frames, value: shorter },
    second: { frames: second.frames, value: longer },
  };
  return [...(shorter === longer ? [] : [lengths]), ...compareBits(bus, id, first, second)];
}

function compareBits(bus: string, id: number, first: ObservedMessage, second: ObservedMessage): Difference[] {
  const bytes = Math.min(first.longest, second.longest);
  const found: Difference[] = [];
  for (let byte = 0; byte < bytes; byte++) {
    const [own, other] = [first.changed[byte]!, second.changed[byte]!];
    const value = (first.latest[byte]! ^ second.latest[byte]!) & ~(own | other);
    for (const [kind, mask] of [
      ['value', value],
      ['changes', own & ~other],
      ['changes', other & ~own],
    ] as const) {
      for (const [bit, bits] of runsOf(mask)) {
        const start = byte * 8 + bit;
        found.push({
          bus,
          id,
          kind,
          start,
          bits,
          first: sideOf(first, start, bits),
          second: sideOf(second, start, bits),
        });
      }
    }
  }
  if (found.length === 0) return [];
  const protecting = protectingBits(first, second);
  return found.map((one) => ({ ...one, protection: protecting.has(one.start!) }));
}

/** Returns the runs of set bits: the lowest bit and the number of bits. */
function runsOf(mask: number): [bit: number, bits: number][] {
  const runs: [number, number][] = [];
  for (let bit = 0; bit < 8; bit++) {
    if (((mask >>> bit) & 1) === 0) continue;
    let bits = 1;
    while (((mask >>> (bit + bits)) & 1) === 1) bits++;
    runs.push([bit, bits]);
    bit += bits;
  }
  return runs;
}

function sideOf(message: ObservedMessage, start: number, bits: number): RecordingSide {
  const { frames, flips, firstFlips, latest, longest } = message;
  const seen = { frames, latest: latest.slice(0, longest) };
  const changing = Array.from({ length: bits }, (_, i) => start + i).filter((bit) => (flips[bit] ?? 0) > 0);
  if (changing.length === 0) {
    return { ...seen, value: (latest[start >>> 3]! >>> (start & 7)) & (2 ** bits - 1) };
  }
  return {
    ...seen,
    flips: Math.max(...changing.map((bit) => flips[bit]!)),
    changedAt: Math.min(...changing.map((bit) => firstFlips[bit]!)),
  };
}

/** Returns the bits of counters and checksums found in either recording. */
function protectingBits(...messages: readonly ObservedMessage[]): ReadonlySet<number> {
  const fields = messages.flatMap((message) => {
    const { counters, checksum } = message.findProtection();
    const place = checksum?.place;
    return [
      ...counters.map(({ field }) => [field.start, field.length] as const),
      ...(place === undefined ? [] : [[place.byte * 8 + place.bit, place.length] as const]),
    ];
  });
  return new Set(fields.flatMap(([start, length]) => Array.from({ length }, (_, i) => start + i)));
}
