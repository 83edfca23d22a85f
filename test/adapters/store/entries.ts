import type { OutboxEntry } from '../../../agent/ports.ts';

/** An entry whose members all differ from their defaults and depend on its numbers. */
export function outboxEntry(priorityClass: number, seq: number, size = 20): OutboxEntry {
  const payload = new Uint8Array(size).fill((priorityClass * 31 + seq) & 0xff);
  const entry = { class: priorityClass, seq, kind: 'telemetry', at: 1_700_000_000_000.25 + seq, payload };
  return seq % 2 === 0
    ? { ...entry, retain: false }
    : { ...entry, retain: true, correlation: Uint8Array.of(seq & 0xff, 7) };
}
