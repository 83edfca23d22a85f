/**
 * Fills a store with messages and records, and prints how much memory they occupy. Run with --expose-gc. Arguments:
 * directory, count.
 */
import { openStore } from '../../../adapters/store/store.ts';

const [directory = '', count = ''] = process.argv.slice(2);
const gc = globalThis.gc as () => void;
const payload = new Uint8Array(1000).fill(7);

async function held(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let store = await openStore(directory);
const before = await held();
for (let seq = 0; seq < Number(count); seq++) {
  store.outbox.append({ class: 5, seq, kind: 'telemetry', at: seq, retain: false, payload });
  store.records.put('telemetry', { id: `b${seq}`, at: seq, record: payload });
  if (seq % 100 === 99) await store.outbox.commit();
}
const written = (await held()) - before;
await store.close();
store = await openStore(directory);
const opened = (await held()) - before;
console.log(JSON.stringify({ written, opened, found: [...store.outbox.entries()].length }));
await store.close();
