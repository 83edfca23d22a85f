/** Process for the counter test: counts as often as its argument says in a directory, and sends the numbers it got. */
import { Counter } from '../../../adapters/keys/counter.ts';

const [directory = '', times = '0'] = process.argv.slice(2);
// Time stands still, so that all processes try the same numbers.
const counter = new Counter(directory, 'key', () => 1000);
const numbers: number[] = [];
for (let i = 0; i < Number(times); i++) numbers.push(await counter.next());
process.send?.(numbers);
