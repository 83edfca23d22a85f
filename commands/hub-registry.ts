/** `vigie hub remove`, `forget` and `list`: the cars of a hub. The hub applies each change within a second. */

import { Command, Option } from 'commander';
import { StreamLog } from '../adapters/logging/stream.ts';
import type { Owner, RegisteredCar } from '../hub/core/registry.ts';
import { type HubPlace, isHubPlace, type OpenRegistry, openRegistry } from '../hub/start/registry.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { isVin } from '../protocol/topics.ts';
import { placeHelp } from './help.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';
import { formatOf, Lines } from './output.ts';

export interface OwnerOptions {
  readonly fleet?: readonly string[];
  readonly user?: readonly string[];
}

export function removeCarCommand(): Command {
  return new Command('remove')
    .configureHelp(placeHelp)
    .argument('<vin>', 'vehicle identification number')
    .description(
      'blocks a car: its connection ends and it may not send any more; what it sent is kept. With --fleet or --user it ' +
        'only leaves these fleets and users',
    )
    .option('--fleet <fleet...>', 'fleets that the car leaves')
    .option('--user <user...>', 'users whose car it is no longer')
    .action((vin: string, options: OwnerOptions, command: Command) =>
      withRegistry(command, async ({ registry }) => {
        const owners = ownersIn(options);
        if (owners.length > 0) {
          await registry.leave(checkedVin(vin), owners, Date.now());
          process.stdout.write(`${carText((await registry.car(vin)) as RegisteredCar)}\n`);
          return;
        }
        await registry.remove(checkedVin(vin), Date.now());
        process.stdout.write(`${vin}: removed\n`);
      }),
    );
}

export function forgetCarCommand(): Command {
  return new Command('forget')
    .configureHelp(placeHelp)
    .argument('<vin>', 'vehicle identification number')
    .description(
      'removes a car and erases everything that it sent or was sent from the files of the database, which are written anew ' +
        'for that; backups are yours to erase',
    )
    .action((vin: string, _options: object, command: Command) =>
      withRegistry(command, async ({ registry }) => {
        if (!(await registry.forget(checkedVin(vin), Date.now()))) {
          throw new VigieError('request.unknown', `the hub has nothing of a car "${vin}"`);
        }
        process.stdout.write(`${vin}: forgotten\n`);
      }),
    );
}

export function openHubCommand(): Command {
  return new Command('open')
    .configureHelp(placeHelp)
    .description(
      'ends the registry: on its own machine the hub then accepts every car, and no request needs a token. Registrations, ' +
        'passwords, certificates and tokens end; what the cars sent stays. A hub that listens beyond its machine refuses everybody',
    )
    .option('--yes', 'ends the registry; without it the command only says what would end')
    .action((options: { yes?: boolean }, command: Command) =>
      withRegistry(command, async ({ registry }) => {
        if (!(await registry.inUse())) throw new VigieError('usage.wrong', 'this hub has no registry');
        const cars = counted((await registry.cars()).length, 'registered car', 'registered cars');
        if (options.yes !== true) {
          throw new VigieError('usage.wrong', `this ends the access control of the hub and ${cars}: say --yes`);
        }
        await registry.end(Date.now());
        process.stdout.write('the hub has no registry any more\n');
      }),
    );
}

export function listCarsCommand(): Command {
  return new Command('list')
    .configureHelp(placeHelp)
    .description('lists the cars, registered or heard: fleets, users, when added, last heard and removed')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action((options: { format?: string }, command: Command) =>
      withRegistry(command, async ({ registry, reader }) => {
        const heard = new Map((await reader.vehicles()).map(({ vin, lastSeen }) => [vin, lastSeen]));
        const registered = await registry.cars();
        const known = new Set(registered.map(({ vin }) => vin));
        const strangers = [...heard.keys()].filter((vin) => !known.has(vin)).map((vin) => ({ vin }));
        const lines = new Lines();
        for (const car of [...registered, ...strangers]) {
          const lastSeen = heard.get(car.vin);
          const line = { ...car, ...defined({ lastSeen }) };
          lines.line(formatOf(options.format) === 'ndjson' ? JSON.stringify(line) : carText(line));
        }
        await lines.flush();
      }),
    );
}

export async function withRegistry(
  command: Command,
  work: (open: OpenRegistry, place: HubPlace) => Promise<void>,
): Promise<void> {
  const place = placeIn(command);
  if (!isHubPlace(place) && command.opts<{ readonly new?: boolean }>().new !== true) {
    throw new VigieError(
      'usage.wrong',
      'no hub has its data there: give --data (and --database) of the hub; `vigie hub add … --new` prepares a hub that has not started yet',
      { where: place.data },
    );
  }
  const open = await openRegistry(place, new StreamLog(process.stderr, 'warn'));
  try {
    await work(open, place);
  } finally {
    await open.close();
  }
}

function placeIn(command: Command): HubPlace {
  return placeOf(command.optsWithGlobals<PlaceOptions>());
}

export function ownersIn({ fleet = [], user = [] }: OwnerOptions): Owner[] {
  return [
    ...fleet.map((id) => ({ kind: 'fleet' as const, id: checkedId(id) })),
    ...user.map((id) => ({ kind: 'user' as const, id: checkedId(id) })),
  ];
}

export function checkedVin(vin: string): string {
  if (isVin(vin)) return vin;
  throw new VigieError('usage.wrong', `"${vin}" is not a VIN: 17 capital letters and digits, without I, O and Q`);
}

/** Checks an id that becomes part of addresses. */
export function checkedId(id: string): string {
  if (/^[A-Za-z0-9._@-]{1,64}$/.test(id)) return id;
  throw new VigieError('usage.wrong', `"${id}" is no name: use up to 64 letters, digits and . _ @ -`);
}

/** Formats one car as a human-readable line. */
export function carText(car: Partial<RegisteredCar> & { readonly vin: string; readonly lastSeen?: number }): string {
  const { vin, added, removed, fleets = [], users = [], lastSeen } = car;
  const at = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  return [
    vin,
    ...fleets.map((id) => `fleet ${id}`),
    ...users.map((id) => `user ${id}`),
    ...(added === undefined ? ['not registered'] : [`added ${at(added)}`]),
    ...(lastSeen === undefined ? [] : [`last heard ${at(lastSeen)}`]),
    ...(removed === undefined ? [] : [`removed ${at(removed)}`]),
  ].join(', ');
}
