import { describe, expect, it } from 'vitest';
import type { OpenFile } from '../../../adapters/store/files.ts';
import { Flusher } from '../../../adapters/store/flusher.ts';

/** A medium whose flush takes `took` milliseconds. */
class Medium implements OpenFile {
  readonly path = '/medium';
  now = 0;
  took = 0.1;
  broken = false;
  inPlace = 0;
  size = (): number => 0;
  read = (): number => 0;
  write = (): void => undefined;
  truncate = (): void => undefined;
  close = (): void => undefined;

  async sync(): Promise<void> {
    this.now += this.took;
    if (this.broken) throw new Error('EIO');
  }

  syncInPlace(): void {
    this.inPlace++;
    this.now += this.took;
    if (this.broken) throw new Error('EIO');
  }
}

async function flush(flusher: Flusher, medium: Medium, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await flusher.flush(medium);
}

describe('a flush', () => {
  it('is synchronous only after the medium has been fast for a while', async () => {
    const medium = new Medium();
    const flusher = new Flusher({ monotonic: () => medium.now });
    await flush(flusher, medium, 10);
    expect(medium.inPlace).toBe(0);
    await flush(flusher, medium, 100);
    expect(medium.inPlace).toBeGreaterThan(50);
  });

  it('of a slow medium never blocks the event loop', async () => {
    const medium = new Medium();
    medium.took = 8;
    const flusher = new Flusher({ monotonic: () => medium.now });
    await flush(flusher, medium, 1000);
    expect(medium.inPlace).toBe(0);
  });

  it('blocks the event loop once when a fast medium becomes slow or fails', async () => {
    for (const change of [{ took: 300 }, { broken: true }]) {
      const medium = new Medium();
      const flusher = new Flusher({ monotonic: () => medium.now });
      await flush(flusher, medium, 100);
      const before = medium.inPlace;
      expect(flusher.inPlace).toBe(true);
      Object.assign(medium, change);
      for (let i = 0; i < 100; i++) await flusher.flush(medium).catch(() => expect(medium.broken).toBe(true));
      expect(medium.inPlace - before).toBe(1);
    }
  });
});
