/** A network as large as a real car's, the same in every run: most of its signals have few bits and share bytes. */
import { chance } from './traffic.ts';

const MESSAGES = 110;
/** Lengths of signals in bits: switches, gears and counters, one-byte readings, and readings with decimals. */
const lengths = [1, 1, 1, 2, 2, 3, 4, 6, 7, 8, 8, 10, 12, 16] as const;
const factors = [1, 1, 1, 0.5, 0.1, 0.01, 0.001] as const;

/** Returns the network as a DBC: both byte orders, signed and unsigned signals, payloads of two to eight bytes. */
export function madeUpNetwork(): string {
  const next = chance(0x2c9277b5);
  const messages = Array.from({ length: MESSAGES }, (_, index) => {
    const bytes = Math.max(2, 8 - (next() % 10));
    // All signals of a message have the same byte order, so that none overlap.
    const big = index % 2 === 1;
    const signals: string[] = [];
    for (let bit = 0; ; ) {
      const length = lengths[next() % lengths.length] as number;
      if (bit + length > bytes * 8) break;
      // Start bit in the numbering of DBC: counted from the most significant bit of byte 0, or from the least
      // significant one.
      const start = big ? (bit & ~7) + 7 - (bit & 7) : bit;
      const sign = length > 8 && next() % 3 === 0 ? '-' : '+';
      const factor = length < 8 ? 1 : factors[next() % factors.length];
      const offset = length < 8 || next() % 2 === 0 ? 0 : -40;
      const name = `S${index}_${signals.length}`;
      signals.push(` SG_ ${name} : ${start}|${length}@${big ? 0 : 1}${sign} (${factor},${offset}) [0|0] "" X`);
      // Some bits are unused.
      bit += length + (next() % 4 === 0 ? 1 + (next() % 6) : 0);
    }
    return `BO_ ${0x100 + index * 9} M${index}: ${bytes} X\n${signals.join('\n')}\n`;
  });
  return `VERSION ""\nNS_ :\nBS_:\nBU_: X\n${messages.join('\n')}`;
}
