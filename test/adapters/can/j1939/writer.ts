/** Packets of parameter groups, as control units send them (SAE J1939-21 §5.10, ISO 11783-3 §5.11). */
export interface Packet {
  readonly id: number;
  readonly data: Uint8Array;
}

export type TransportKind = 'all' | 'one' | 'extended';

export interface SentGroup {
  readonly kind: TransportKind;
  /** Parameter group number; below PDU format 240 without the destination. */
  readonly group: number;
  readonly source: number;
  readonly destination: number;
  readonly data: Uint8Array;
}

const EXTENDED = 0x8000_0000;

const idOf = (priority: number, group: number, destination: number, source: number): number =>
  ((EXTENDED | (priority << 26) | (group << 8) | (destination << 8) | source) >>> 0) as number;
const little = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256);

/** Identifier of a group that fits one frame. */
export function groupId({ group, source, destination }: SentGroup, priority = 7): number {
  return idOf(priority, group, ((group >>> 8) & 0xff) < 240 ? destination : 0, source);
}

/** The packets of a group. Data packets have their sequence number from 1; control packets have 0. */
export function packetsOf(sent: SentGroup): (Packet & { readonly number: number })[] {
  const { kind, group, source, destination, data } = sent;
  const size = data.length;
  const count = Math.ceil(size / 7);
  const [control, transfer] = kind === 'extended' ? [0xc800, 0xc700] : [0xec00, 0xeb00];
  const cm = (from: number, to: number, ...bytes: readonly number[]) => ({
    id: idOf(7, control, to, from),
    data: Uint8Array.from(bytes),
    number: 0,
  });
  const dt = (number: number, sequence: number) => {
    const part = [...data.subarray((number - 1) * 7, number * 7)];
    while (part.length < 7) part.push(0xff);
    return { id: idOf(7, transfer, destination, source), data: Uint8Array.of(sequence, ...part), number };
  };
  const end = little(group, 3);
  const numbers = Array.from({ length: count }, (_, i) => i + 1);
  if (kind === 'all') {
    return [cm(source, 0xff, 32, ...little(size, 2), count, 0xff, ...end), ...numbers.map((n) => dt(n, n))];
  }
  if (kind === 'one') {
    const packets = [cm(source, destination, 16, ...little(size, 2), count, 8, ...end)];
    for (let at = 0; at < count; at += 8) {
      const part = numbers.slice(at, at + 8);
      packets.push(cm(destination, source, 17, part.length, at + 1, 0xff, 0xff, ...end), ...part.map((n) => dt(n, n)));
    }
    return [...packets, cm(destination, source, 19, ...little(size, 2), count, 0xff, ...end)];
  }
  const packets = [cm(source, destination, 20, ...little(size, 4), ...end)];
  for (let at = 0; at < count; at += 255) {
    const part = numbers.slice(at, at + 255);
    packets.push(
      cm(destination, source, 21, part.length, ...little(at + 1, 3), ...end),
      cm(source, destination, 22, part.length, ...little(at, 3), ...end),
      ...part.map((n) => dt(n, n - at)),
    );
  }
  return [...packets, cm(destination, source, 23, ...little(size, 4), ...end)];
}
