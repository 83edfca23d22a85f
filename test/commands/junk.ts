/** Messages of a hostile broker to a car. None of them is a valid command for it. */
import { downTopic } from '../../protocol/topics.ts';

/** Largest message, bytes. */
const LARGEST = 1024 * 1024;
/** Largest message that the link accepts, bytes. One message in `OVERSIZE` is larger. */
const TAKEN = 60_000;
const OVERSIZE = 1_000;

export interface Piece {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
}

/** An endless stream, the same for the same seed. `genuine` are signed commands to corrupt. */
export function* junk(vin: string, genuine: readonly Uint8Array[], seed: number): Generator<Piece, never> {
  let state = seed >>> 0 || 1;
  // Xorshift (Marsaglia 2003).
  const random = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const noise = new Uint8Array(LARGEST).map(() => random(256));
  const topics = ['remote', 'monitor', 'callback', 'configuration', 'trust', 'ack'] as const;
  const makers: readonly (() => Uint8Array)[] = [
    () => noise.subarray(random(1_000)).subarray(0, random(300)),
    () => noise.subarray(0, random(TAKEN)),
    () => spoilt(genuine[random(genuine.length)] as Uint8Array, random),
    () => (genuine[random(genuine.length)] as Uint8Array).subarray(0, random(60)),
    // Nested arrays, and a map that claims more members than there are atoms.
    () => new Uint8Array(random(5_000)).fill(0x81),
    () => Uint8Array.of(0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ...noise.subarray(0, 40)),
    () => new Uint8Array(0),
  ];
  for (let count = 1; ; count++) {
    const payload =
      count % OVERSIZE === 0
        ? noise.subarray(0, 100_000 + random(LARGEST - 100_000))
        : (makers[random(makers.length)] as () => Uint8Array)();
    const own = random(10) > 0;
    const kind = topics[random(3) > 0 ? 0 : random(topics.length)] as string;
    const topic = own ? downTopic(vin, 'remote').replace(/remote$/, kind) : `vigie/1/${vin}/down/${random(1e9)}`;
    yield { topic, payload, qos: random(2) === 0 ? 0 : 1 };
  }
}

/** A command with one changed bit. */
export function spoilt(command: Uint8Array, random: (below: number) => number): Uint8Array {
  const copy = command.slice();
  const at = random(copy.length);
  copy[at] = (copy[at] as number) ^ (1 << random(8));
  return copy;
}
