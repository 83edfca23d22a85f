/** `vigie hub add`, `remove`, `forget` and `list`: which cars belong to a hub. The hub sees each change within a second. */

import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { StreamLog } from '../adapters/logging/stream.ts';
import { makeDirectory } from '../assembly/directory.ts';
import { digestOf } from '../assembly/hub-clients.ts';
import { type HubPlace, isHubPlace, type OpenRegistry, openRegistry } from '../assembly/hub-registry.ts';
import type { Owner, RegisteredCar } from '../hub/registry.ts';
import { counted } from '../protocol/counted.ts';
import { defined } from '../protocol/defined.ts';
import { VigieError } from '../protocol/errors.ts';
import { isVin } from '../protocol/topics.ts';
import { placeHelp } from './help.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';
import { formatOf, Lines } from './output.ts';
import { programName } from './program-name.ts';

/** Cars that a warning names. */
const NAMED_CARS = 5;

export function addCarCommand(): Command {
  return new Command('add')
    .configureHelp(placeHelp)
    .argument('<vin>', 'vehicle identification number')
    .description(
      'registers a car in fleets and for users, beside those of before; lets a removed car in again. Prints a one-time ' +
        'token for `vigie enroll` in the car, which is good for a week. From the first registered car on, no other car may send.',
    )
    .option('--fleet <fleet...>', 'fleets that the car is in')
    .option('--user <user...>', 'users whose car it is')
    .option('--password', 'also makes a password for MQTT, of which the VIN is the user name, and prints it')
    .option('--new', 'makes the database if there is none: for a hub that has not started yet')
    .action(async (vin: string, options: AddOptions, command: Command) => {
      const owners = ownersIn(options);
      if (owners.length === 0) throw new VigieError('usage.wrong', 'say whose car it is: --fleet, --user or both');
      if (options.new === true) makeDirectory(placeIn(command).data, { of: 'the hub', choose: '--data' });
      await withRegistry(command, async ({ registry, reader }, { data }) => {
        const first = !(await registry.inUse());
        await registry.add(checkedVin(vin), owners, Date.now());
        const car = await registry.car(vin);
        if (first) warnOfUnregistered(await reader.vehicles(), vin);
        const { issueToken } = await import('../assembly/hub-enrolment.ts');
        const token = await issueToken(data, registry, vin, Date.now());
        process.stdout.write(`${textOf(car as RegisteredCar)}\ntoken: ${token}\n`);
        if (options.password !== true) return;
        const password = randomBytes(32).toString('base64url');
        await registry.setPassword(vin, digestOf(password));
        process.stdout.write(`password: ${password}\n`);
      });
    });
}

interface AddOptions {
  readonly fleet?: readonly string[];
  readonly user?: readonly string[];
  readonly password?: boolean;
  readonly new?: boolean;
}

/** The first registered car closes the hub to all others, and to itself until it has a certificate or a password. */
function warnOfUnregistered(heard: readonly { readonly vin: string }[], added: string): void {
  if (heard.length === 0) return;
  const others = heard.map(({ vin }) => vin).filter((vin) => vin !== added);
  const named = `${others.slice(0, NAMED_CARS).join(', ')}${others.length > NAMED_CARS ? ', …' : ''}`;
  const refused =
    others.length === 0
      ? ''
      : `${counted(others.length, 'car', 'cars')} that this hub has received messages from are refused until you add them: ${named}. `;
  process.stderr.write(
    `${programName}: this hub now has a registry: it admits registered cars only. ${refused}Every car, ${added} included, needs ` +
      'a certificate (vigie enroll, with its token) or, on a hub without --tls, a password (--password)\n',
  );
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
    .action((vin: string, options: AddOptions, command: Command) =>
      withRegistry(command, async ({ registry }) => {
        const owners = ownersIn(options);
        if (owners.length > 0) {
          await registry.leave(checkedVin(vin), owners, Date.now());
          process.stdout.write(`${textOf((await registry.car(vin)) as RegisteredCar)}\n`);
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
          lines.line(formatOf(options.format) === 'ndjson' ? JSON.stringify(line) : textOf(line));
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
  if (!isHubPlace(place) && command.opts<AddOptions>().new !== true) {
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

function ownersIn({ fleet = [], user = [] }: { fleet?: readonly string[]; user?: readonly string[] }): Owner[] {
  return [
    ...fleet.map((id) => ({ kind: 'fleet' as const, id: checkedId(id) })),
    ...user.map((id) => ({ kind: 'user' as const, id: checkedId(id) })),
  ];
}

function checkedVin(vin: string): string {
  if (isVin(vin)) return vin;
  throw new VigieError('usage.wrong', `"${vin}" is not a VIN: 17 capital letters and digits, without I, O and Q`);
}

/** It is part of addresses. */
function checkedId(id: string): string {
  if (/^[A-Za-z0-9._@-]{1,64}$/.test(id)) return id;
  throw new VigieError('usage.wrong', `"${id}" is no name: use up to 64 letters, digits and . _ @ -`);
}

/** One car on a line, for people. */
function textOf(car: Partial<RegisteredCar> & { readonly vin: string; readonly lastSeen?: number }): string {
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
