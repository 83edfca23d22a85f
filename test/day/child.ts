/**
 * The process that kill.long.test.ts kills: continues the day from the state of the store. Arguments: file of frames,
 * directory of the store, start number. Prints its progress, and `done` at the end.
 */
import { readFileSync, writeSync } from 'node:fs';
import { openStore } from '../../adapters/store/index.ts';
import { unpackDay } from '../rig/day.ts';
import { Life } from '../rig/day-run.ts';
import { hastyFiles } from '../rig/hasty-files.ts';
import { MemoryLog } from '../rig/log.ts';

const [frames = '', directory = '', boot = ''] = process.argv.slice(2);
const log = new MemoryLog();
const store = await openStore(directory, { files: hastyFiles, log, now: () => undefined });
const life = new Life(unpackDay(readFileSync(frames)), { ...store, asked: true }, Number(boot), log, () => undefined);
let told = 0;
await life.live(Number.POSITIVE_INFINITY, () => {
  if (life.frame < told) return;
  told = life.frame + 500;
  writeSync(1, `${life.frame}\n`);
});
await life.rest();
await store.close();
const wrong = log.lines.filter(({ level }) => level === 'error');
writeSync(1, life.agent.faults === 0 && wrong.length === 0 ? 'done\n' : `${JSON.stringify(wrong)}\n`);
