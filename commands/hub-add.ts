/** `vigie hub add`: registers cars. */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { Owner, RegisteredCar, Registry } from '../hub/core/registry.ts';
import { digestOf } from '../hub/start/clients.ts';
import { type HubPlace, hasRun, usesTls } from '../hub/start/registry.ts';
import { DAY } from '../protocol/calendar.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { placeHelp } from './help.ts';
import { type PlaceOptions, placeOf } from './hub-place.ts';
import { carText, checkedVin, type OwnerOptions, ownersIn, withRegistry } from './hub-registry.ts';
import { Lines } from './output.ts';

interface AddOptions extends OwnerOptions {
  readonly vins?: string;
  readonly password?: boolean;
  readonly new?: boolean;
  readonly yes?: boolean;
  readonly format: string;
}

interface HeardCar {
  readonly vin: string;
  /** Time of the last message in UTC ms. */
  readonly lastSeen: number;
}

/** Time in ms: the first registration fails if it would cut off cars that were connected within this time. */
const HEARD_LATELY_MS = DAY;
/** Largest number of cars that a message lists. */
const NAMED_CARS = 5;

export function addCarCommand(): Command {
  return new Command('add')
    .configureHelp(placeHelp)
    .argument('[vin...]', 'vehicle identification numbers')
    .description(
      'registers cars in fleets and for users, in addition to their present ones; lets removed cars in again. Prints a one-time ' +
        'token for `vigie enroll` in each car, which is good for a week. From the first registered car on, no other car may send.',
    )
    .option('--vins <file>', 'file with a VIN on each line; # begins a comment')
    .option('--fleet <fleet...>', 'fleets that the cars are in')
    .option('--user <user...>', 'users whose cars they are')
    .option('--password', 'also makes a password for MQTT, of which the VIN is the user name, and prints it')
    .option('--new', 'makes the database if there is none: for a hub that has not started yet')
    .option('--yes', 'registers the first cars of a hub even if it then refuses cars that it heard within a day')
    .addOption(
      new Option('--format <format>', 'text for people, ndjson for programs')
        .choices(['text', 'ndjson'])
        .default('text'),
    )
    .action(async (words: readonly string[], options: AddOptions, command: Command) => {
      const owners = ownersIn(options);
      if (owners.length === 0) throw new VigieError('usage.wrong', 'say whose car it is: --fleet, --user or both');
      const vins = vinsIn(words, options.vins);
      const { configuration, ...place } = placeOf(command.optsWithGlobals<PlaceOptions>());
      const enrols = configuration?.tls !== undefined || usesTls(place);
      // The operator has not yet decided whether the hub uses TLS.
      const isUndecided = !hasRun(place) && options.password !== true;
      await withRegistry(command, async ({ registry, reader }) => {
        const heard = (await registry.inUse()) ? [] : await reader.vehicles();
        if (options.yes !== true) refuseToCutOff(heard, vins);
        const way = { hasToken: enrols || isUndecided, hasPassword: options.password === true };
        await addAll(vins, { registry, place, owners, way, format: options.format });
        if (heard.length > 0) warnOfUnregistered(heard, vins);
        const isExternal = configuration?.broker !== undefined && 'url' in configuration.broker;
        if (!way.hasToken && !way.hasPassword && !isExternal) {
          process.stderr.write(
            'vigie: this hub does not use TLS, so a car needs a password to connect: --password makes one\n',
          );
        }
      });
    });
}

interface Adding {
  readonly registry: Registry;
  readonly place: HubPlace;
  readonly owners: readonly Owner[];
  /** Credentials that the cars use to connect. */
  readonly way: { readonly hasToken: boolean; readonly hasPassword: boolean };
  readonly format: string;
}

/** Registers each car and prints it with its secrets. */
async function addAll(vins: readonly string[], { registry, place, owners, way, format }: Adding): Promise<void> {
  const { issueToken } = await import('../hub/start/enrolment.ts');
  const lines = new Lines();
  for (const vin of vins) {
    await registry.add(vin, owners, Date.now());
    const car = (await registry.car(vin)) as RegisteredCar;
    const token = way.hasToken ? await issueToken(place.data, registry, vin, Date.now()) : undefined;
    const password = way.hasPassword ? randomBytes(32).toString('base64url') : undefined;
    if (password !== undefined) await registry.setPassword(vin, digestOf(password));
    if (format === 'ndjson') lines.line(JSON.stringify({ ...car, token, password }));
    else {
      lines.line(carText(car));
      if (token !== undefined) lines.line(`token: ${token}`);
      if (password !== undefined) lines.line(`password: ${password}`);
    }
    await lines.flush();
  }
}

/** Returns the VINs of the command after checking all. @throws VigieError `usage.wrong` or `input.unreadable` */
function vinsIn(words: readonly string[], file: string | undefined): readonly string[] {
  const listed = file === undefined ? [] : linesOf(file);
  const vins = [...new Set([...words, ...listed].map(checkedVin))];
  if (vins.length > 0) return vins;
  throw new VigieError('usage.wrong', 'say which car: vigie hub add VIN, or --vins FILE with a VIN on each line');
}

function linesOf(file: string): readonly string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '');
  } catch (error) {
    throw new VigieError('input.unreadable', (error as Error).message, { where: file, cause: error });
  }
}

/** @throws VigieError `usage.wrong` if a first registration would disconnect cars in use */
function refuseToCutOff(heard: readonly HeardCar[], added: readonly string[]): void {
  const since = Date.now() - HEARD_LATELY_MS;
  const lately = othersIn(heard, added).filter(({ lastSeen }) => lastSeen >= since);
  if (lately.length === 0) return;
  throw new VigieError(
    'usage.wrong',
    `this hub has no registry yet; with its first registered car it would refuse ${counted(lately.length, 'car', 'cars')} that it ` +
      `heard within a day: ${namesOf(lately)}. Register them in the same command (VIN… or --vins FILE), or say --yes`,
  );
}

/** Warns about unregistered cars. A hub that gets a registry refuses even added cars until they have a credential. */
function warnOfUnregistered(heard: readonly HeardCar[], added: readonly string[]): void {
  const others = othersIn(heard, added);
  const refused =
    others.length === 0
      ? ''
      : `${counted(others.length, 'car', 'cars')} that this hub has received messages from are refused until you add them: ${namesOf(others)}. `;
  const included = added.length === 1 ? `${added[0]} included` : 'the added ones included';
  process.stderr.write(
    `vigie: this hub now has a registry: it admits registered cars only. ${refused}Every car, ${included}, needs ` +
      'a certificate (vigie enroll, with its token) or, on a hub without --tls, a password (--password)\n',
  );
}

function othersIn(heard: readonly HeardCar[], added: readonly string[]): readonly HeardCar[] {
  return heard.filter(({ vin }) => !added.includes(vin));
}

function namesOf(cars: readonly HeardCar[]): string {
  return `${cars
    .slice(0, NAMED_CARS)
    .map(({ vin }) => vin)
    .join(', ')}${cars.length > NAMED_CARS ? ', …' : ''}`;
}
