/** CAN under load, in a kernel that supports CAN. */
import { installKernel, runInKernel } from '../can-kernel/kernel.ts';
import type { Load } from '../can-kernel/load.ts';
import { figure } from './contest.ts';
import type { Section, Table } from './section.ts';

/** Result of `scripts/can-kernel/measure.ts` for one reader: its figures, or the reason why there are none. */
type Said = { readonly name: string } & (Load | { readonly reason: string });

export const hearing: Section = {
  name: 'can',
  title: 'CAN under load',
  text: `Four virtual buses, 4,000 frames/s on each, the load of a full classic bus at 500 kbit/s:
played by \`canplayer\`, read by ours as the agent reads them, and by python-can with a \`Notifier\`, one after the other.
Counters in the frames prove that no frame is missing; the kernel counts the frames that it dropped. The kernel is Debian's
an emulated machine, whose two processors players and reader share; \`npm run test:can\` has more checks in it.`,
  async run({ frames }) {
    const seconds = frames < 1_000_000 ? 5 : 60;
    const said: Said[] = [];
    const before: string[] = [];
    try {
      installKernel();
      await runInKernel('measure', seconds, (line) => {
        // A message of the kernel may stand before the figures in the same line.
        const figures = /\{"name":.*\}$/.exec(line)?.[0];
        if (figures !== undefined) said.push(JSON.parse(figures) as Said);
        else if (said.length === 0) before.push(line);
      });
    } catch (error) {
      return [{ title: 'no kernel with CAN', columns: ['left out'], rows: [], notes: [(error as Error).message] }];
    }
    if (!said.some(({ name }) => name === 'vigie')) {
      said.push({ name: 'vigie', reason: `printed no figures; the kernel printed ${before.slice(-5).join(' / ')}` });
    }
    return [table(said, seconds)];
  },
};

function table(said: readonly Said[], seconds: number): Table {
  const loads = said.filter((one): one is Load & { name: string } => 'sent' in one);
  const own = loads.find(({ name }) => name === 'vigie');
  const every = (of: number | undefined): number => of ?? Number.NaN;
  return {
    title: `${seconds} s`,
    columns: ['reader', 'frames sent', 'frames/s', 'received', 'missing', '% of the core'],
    rows: loads.map(({ name, sent, received, missing, seconds: lasted, processor }) => ({
      cells: [
        name === 'vigie' ? '**vigie**' : name,
        sent.toLocaleString('en'),
        figure(sent / lasted),
        received.toLocaleString('en'),
        missing.toLocaleString('en'),
        figure((processor / lasted) * 100),
      ],
    })),
    notes: said.flatMap((one) => ('reason' in one ? [`${one.name}: ${one.reason}`] : [])),
    targets: [
      { what: 'frames missing', measured: every(own?.missing), bound: 0, wanted: 'at most' },
      { what: 'frames that the kernel dropped', measured: every(own?.dropped), bound: 0, wanted: 'at most' },
    ],
  };
}
