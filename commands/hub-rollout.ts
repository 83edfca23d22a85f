/** `vigie hub rollout`: sends a configuration to the cars of a fleet, first to a few. Begins within seconds. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { basename } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { digestOf } from '../assembly/sent-files.ts';
import type { Rollout, RolloutCar, RolloutStore } from '../hub/core/rollout-store.ts';
import { continueRollout, earlierRollout, presentRollout, stopRollout } from '../hub/core/rollouts.ts';
import { rolloutOrder } from '../hub/start/rollout-order.ts';
import { encodeBody } from '../protocol/command.ts';
import { VigieError } from '../protocol/errors.ts';
import { placeHelp } from './help.ts';
import { withRegistry } from './hub-registry.ts';
import { formatOf, Lines } from './output.ts';

interface Options {
  readonly fleet?: string;
  readonly first?: number;
  readonly tolerate?: number;
  readonly continue?: boolean;
  readonly stop?: boolean;
  readonly back?: boolean | string;
  readonly name?: string;
  readonly format?: string;
}

/** Default number of cars in the first group. */
const FIRST = 5;
/** Number of cars in one read. */
const PAGE = 1_000;

export function rolloutCommand(): Command {
  return new Command('rollout')
    .configureHelp(placeHelp)
    .argument('[file]', 'vigie.yaml for the cars; a profile and DBC files at relative paths go with it')
    .description(
      'sends a configuration to a few cars of a fleet, and with --continue to the others. A car tries it and goes back by itself if it ' +
        'does not work; then the roll-out stops. Without a file: lists the roll-outs, or with --fleet the cars of the latest',
    )
    .option('--fleet <fleet>', 'fleet whose cars get it')
    .option('--first <cars>', `cars that get it first, those heard last (default: ${FIRST})`, countOf)
    .option('--tolerate <cars>', 'cars that may return or refuse it before it stops by itself (default: 0)', countOf)
    .option('--name <name>', 'who does it, for the audit trail (default: the user of this machine)', nameOf)
    .option('--continue', 'has all cars of the fleet get it')
    .option('--stop', 'has no further car get it; cars that have it keep it')
    .option(
      '--back [rollout]',
      'begins a roll-out of the configuration of an earlier one (default: the newest that a car of the fleet kept)',
    )
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action((file: string | undefined, options: Options, command: Command) => {
      checkUse(file, options);
      return withRegistry(command, ({ rollouts }) => carryOut(rollouts, file, options));
    });
}

/** Checks the combination of options. @throws VigieError `usage.wrong` */
function checkUse(file: string | undefined, { fleet, first, stop, back, continue: goesOn }: Options): void {
  const given = [file !== undefined, stop, goesOn, back !== undefined].filter(Boolean).length;
  if (given > 1) throw new VigieError('usage.wrong', 'give one of FILE, --continue, --stop and --back');
  if (fleet === undefined && given > 0) throw new VigieError('usage.wrong', 'say which fleet: --fleet');
  if (first !== undefined && file === undefined && back === undefined) {
    throw new VigieError('usage.wrong', '--first is for a new roll-out: give a FILE or --back');
  }
  if (first === 0) throw new VigieError('usage.wrong', '--first must be at least 1');
}

async function carryOut(store: RolloutStore, file: string | undefined, options: Options): Promise<void> {
  const { fleet, first = FIRST, tolerate, stop, back, continue: goesOn } = options;
  const who = options.name ?? userInfo().username;
  if (fleet !== undefined && (file !== undefined || back !== undefined)) {
    const id = randomUUID();
    const { name, order } =
      file === undefined
        ? await earlierRollout(store, fleet, id, back === true ? undefined : (back as string))
        : { name: basename(file), order: rolloutOrder(file, id) };
    const body = encodeBody('Configuration', order);
    const created = Date.now();
    const more = { caller: who, created, first, tolerated: tolerate ?? 0 };
    await store.begin({ id, fleet, name, digest: digestOf(body), body, ...more });
  } else if (fleet !== undefined && (stop || goesOn)) {
    const { id } = await latestOf(store, fleet);
    await (stop ? stopRollout(store, id, who) : continueRollout(store, id, tolerate));
  }
  const isText = formatOf(options.format) === 'text';
  const lines = new Lines();
  if (fleet === undefined) {
    for (const one of await store.rollouts()) {
      const rollout = await presentRollout(one, store);
      lines.line(isText ? textOf(rollout) : JSON.stringify(rollout));
    }
    return lines.flush();
  }
  const rollout = await presentRollout(await latestOf(store, fleet), store);
  lines.line(isText ? textOf(rollout) : JSON.stringify(rollout));
  for (let after = ''; ; ) {
    const cars = await store.cars(rollout.id, after, PAGE);
    for (const car of cars) lines.line(isText ? carText(car) : JSON.stringify(car));
    await lines.flush();
    if (cars.length < PAGE) return;
    after = cars.at(-1)?.vin ?? '';
  }
}

async function latestOf(store: RolloutStore, fleet: string): Promise<Rollout> {
  const latest = (await store.rollouts()).find((one) => one.fleet === fleet);
  if (latest !== undefined) return latest;
  throw new VigieError(
    'usage.wrong',
    `there was no roll-out to the fleet "${fleet}": vigie hub rollout FILE --fleet ${fleet}`,
  );
}

function nameOf(text: string): string {
  if (/^[^\p{Cc}]{1,64}$/u.test(text)) return text;
  throw new InvalidArgumentError('must have 1 to 64 characters');
}

function countOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a number of cars');
}

const stages = {
  first: 'goes to the first cars; --continue sends it to all',
  all: 'goes to all cars',
  stopped: 'stopped',
} as const;

function textOf({ id, fleet, name, created, caller, stage, reason, cars }: Rollout): string {
  const counts = Object.entries(cars).filter(([, count]) => count > 0);
  return [
    `${id}: ${name} to fleet ${fleet}`,
    `${new Date(created).toISOString().slice(0, 19).replace('T', ' ')} by ${caller}`,
    `${stages[stage]}${reason === undefined ? '' : `: ${reason}`}`,
    counts.map(([state, count]) => `${count} ${state}`).join(', '),
  ].join('; ');
}

function carText({ vin, isFirst, state, detail }: RolloutCar): string {
  return `${vin}  ${state}${isFirst ? ', of the first' : ''}${detail === undefined ? '' : `: ${detail}`}`;
}
