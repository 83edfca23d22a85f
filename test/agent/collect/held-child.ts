/**
 * Collects a signal of a large DBC and prints by how many bytes the memory in use has grown. Run it with --expose-gc.
 * Arguments: the DBC, two of its signals, and the identifier of the second.
 */
import { receive } from '../signals/car.ts';
import { START, startCar } from './car.ts';

const [file = '', first = '', second = '', id = ''] = process.argv.slice(2);
const gc = globalThis.gc as () => void;

async function held(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const until = START + 3_600_000;
const buses = `  - { name: can, dbc: ['${file}'] }\n  - { name: body, dbc: [body.dbc] }`;
const car = await startCar({ profile: `profile: 1\nname: large\nbuses:\n${buses}\nstatus: {}\n` });
// Loads the code for collections.
await car.order({ name: 'first', signals: [{ bus: 'can', signal: first }], until });
await car.order({ name: 'first', signals: [] });
await car.pass(5_000);
const before = await held();
await car.order({ name: 'second', signals: [{ bus: 'can', signal: second }], until });
car.send('can', Number(id), [7]);
await car.pass(5_000);
const kept = (await held()) - before;
console.log(JSON.stringify({ kept, readings: receive(car.published).readings.get(second) }));
await car.drop();
