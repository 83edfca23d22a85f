/** Cost of monitors in a car in which values change thousands of times a second. */
import { bundle } from './bundle.ts';
import { type Contestant, contest, figure, median, type Standing } from './contest.ts';
import type { Section, Size, Table } from './section.ts';

/** Number of simulated seconds per round, and of changes per second. */
const SECONDS = 5;
const CHANGES = 10_000;

export const monitoring: Section = {
  name: 'monitors',
  title: 'Monitors',
  text: `1,000 monitors of one to five triggers over every data name that is a value of Status, with zones, refreshes and
hysteresis, on a car that changes 10,000 values a second (one in a hundred a state, the rest quantities); ten commits a second contain their changed state. The share is of one core, in addition to the same car without monitors. Peer: LF Edge eKuiper publishes
300 rules × 500 messages a second (150,000 rule evaluations a second) at half of two cores.`,
  async run(size, scratch) {
    const program = await bundle('monitors-program.ts', scratch);
    return [await costs(program, size)];
  },
};

async function costs(program: string, size: Size): Promise<Table> {
  const contestant = (name: string, count: number, what: string): Contestant => ({
    name,
    command: process.execPath,
    arguments: [program, String(count), what],
  });
  const cases = [
    { name: 'all slots change', what: 'car', monitors: 1_000 },
    { name: 'only what is watched changes', what: 'watched', monitors: 1_000 },
    { name: 'all slots change', what: 'car', monitors: 300 },
  ];
  const standings = await contest(
    cases.flatMap(({ name, what, monitors }) => [
      contestant(`${name}, none`, 0, what),
      contestant(`${name}, ${monitors}`, monitors, what),
    ]),
    size.rounds,
  );
  /** Additional time in ns per simulated second, compared with no monitors. */
  const costs = cases.map((_, index) => {
    const [without, watching] = standings.slice(2 * index, 2 * index + 2) as [Standing, Standing];
    return (median(watching.times) - median(without.times)) / SECONDS;
  });
  const rows = cases.map(({ name, monitors }, index) => {
    const watching = standings[2 * index + 1] as Standing;
    const cost = costs[index] ?? Number.NaN;
    const [slots = '', events = '', changes = ''] = watching.outcome.split(' ');
    if (Number(changes) < 0.99 * CHANGES) throw new Error(`monitors: the car changed ${changes} values a second only`);
    return {
      cells: [name, String(monitors), slots, events, `${figure(cost / 1e7)} %`, figure(cost / CHANGES)],
    };
  });
  return {
    title: '10,000 changes a second',
    columns: ['what changes', 'monitors', 'slots', 'events/s', 'of one core', 'ns a change'],
    rows,
    notes: [
      'eKuiper is not in the same run, because npm and Debian have no package of it; its figure is the published one.',
    ],
    targets: cases.map(({ name, monitors }, index) => {
      const what = `${monitors} monitors, ${name}: % of one core`;
      return { what, measured: (costs[index] ?? Number.NaN) / 1e7, bound: 10, wanted: 'at most' };
    }),
  };
}
