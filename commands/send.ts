import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandSigner, listKeys } from '../adapters/keys/index.ts';
import type { CloudClient } from '../adapters/mqtt/index.ts';
import { configurationDefaults } from '../config/defaults.ts';
import { writeDuration } from '../config/quantities.ts';
import { VigieError } from '../protocol/errors.ts';
import type { RemoteReport } from '../protocol/schema/remote.ts';
import { type BrokerOptions, connectTo, withBroker } from './broker.ts';
import { hubInterfaceOf } from './hub-interface.ts';
import { type Format, finishUnread, formatOf, Lines } from './output.ts';
import { explainAbsence, followPresence } from './presence.ts';
import { vinOf } from './rig.ts';
import { Deliveries } from './send/delivery.ts';
import { explain } from './send/explain.ts';
import { explainList, keptMonitors } from './send/monitor-list.ts';
import { isOrder, ordersOf, orderUsages } from './send/orders.ts';
import type { Details } from './send/request.ts';
import { sendThroughHub } from './send/through-hub.ts';
import { requestOf, usages } from './send/vocabulary.ts';

interface Options extends Details, BrokerOptions {
  readonly keys?: string;
  readonly signingKey?: string;
  /** URL of a hub. If set, the hub signs and sends the command instead. */
  readonly hub?: string;
  readonly tokenFile?: string;
  readonly valid: number;
  readonly wait: number;
  readonly format?: string;
}

export function sendCommand(): Command {
  const command = new Command('send')
    .summary('signs a command, sends it, shows its states until done')
    .description(
      `Signs a command and sends it to the car through the broker, or with --hub has a hub do so. A line per state {remoteActionId, type, status, \
failureCause?}: Accepted, SentToVehicle, then Success, AlreadyDone or Failed. Success means that the car showed the result. \
Exit status 0 for Success and AlreadyDone, 1 for Failed or no answer.

Commands to the car:
  ${usages.join('\n  ')}
Commands to the agent itself:
  ${orderUsages.join('\n  ')}

A FILE of monitors is one monitor or a list of them, YAML or JSON, as the interface shows them; a KEY is the name of one \
in --keys, the file of a public key (PEM), or, with revoke, its key id. Times are in the time zone of the car, such as 07:15; --days are Mon,Tue,… \
A longitude west of Greenwich begins with a minus: put -- before it.`,
    )
    .argument('<vin>', 'the car', vinOf)
    .argument('<what>', 'subject of the command')
    .argument('[words...]', 'action and its values')
    .option('--at <time>', 'start: a time of day, or for charging once a date-time with its offset')
    .option('--until <time>', 'end of charging; end of a collection, as 2h from now or a date-time with its offset')
    .option('--days <days>', 'days of the week; default: every day')
    .option('--slot <number>', 'place of the program, 1 to 4')
    .option('--once', 'the program runs once')
    .option('--level <number>', 'power of charging, 1 to 5')
    .option('--type <type>', 'charge limit: partial or full')
    .option('--running <seconds>', 'interval of positions while a stolen car drives, 5 or more')
    .option('--shutdown <seconds>', 'interval of positions while a stolen car stands, 60 or more')
    .option('--id <id>', 'id of the monitor or callback of a file; default: the name of the file')
    .option('--side <side>', 'side of the interface to which a callback belongs: fleet or user')
    .option(
      '--interval <time>',
      'collect at most one reading of a signal in this time, 0 for every change (default: 1s)',
    )
    .option('--while <condition>', 'collect only while Status shows this, such as kinetic.speed>=10')
    .option('--before <time>', 'capture frames from so long before the command')
    .option('--after <time>', 'capture frames until so long after it')
    .option('--buses <buses>', 'buses whose frames are captured: can,body')
    .option('--identifiers <ids>', 'identifiers whose frames are captured, in hexadecimal: 1A0,18FEF100')
    .option('--kinds <kinds>', 'command kinds that a key may sign: Doors,Lights,…');
  return withBroker(command, 'broker to send through')
    .addOption(
      new Option('--hub <url>', 'hub that signs and sends the command: the address of its HTTP interface').conflicts([
        'broker',
        'username',
        'passwordFile',
        'cert',
        'certKey',
        'keys',
        'signingKey',
        'valid',
      ]),
    )
    .option('--token-file <file>', 'with --hub: file that contains only the token (vigie hub token)')
    .option('--keys <dir>', 'directory of the signing keys (default: keys in --data)')
    .option('--signing-key <name>', 'the key that signs (default: the only one)')
    .option('--valid <seconds>', 'time after which the car refuses the command', seconds, 30)
    .option('--wait <seconds>', 'further time to wait for the last state', seconds, 15)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(send);
}

async function send(vin: string, what: string, words: readonly string[], options: Options): Promise<void> {
  const { data, valid, wait } = options;
  finishUnread();
  const format = formatOf(options.format);
  const lines = new Lines();
  if (options.hub !== undefined) return sendTo(options.hub, vin, [what, ...words], options, lines);
  if (options.tokenFile !== undefined) throw new VigieError('usage.wrong', '--token-file is for --hub: add --hub URL');
  if (what === 'monitor' && words.join() === 'list') return listMonitors(vin, options, format, lines);
  const details = detailsOf(options);
  const keys = options.keys ?? join(data, 'keys');
  const requests = isOrder(what) ? await ordersOf(what, words, details, keys) : [requestOf(what, words, details)];
  const key = options.signingKey ?? (await onlyKey(keys));
  const signer = await CommandSigner.open(keys, key);
  const { maxValidity } = configurationDefaults.commands;
  if (valid * 1000 > maxValidity) {
    process.stderr.write(
      `vigie: a car refuses a command that is valid for more than ${writeDuration(maxValidity)}, unless its commands.maxValidity is longer\n`,
    );
  }
  const client = await connectTo(options);
  const presence = await presenceOf(client, vin);
  if (presence === undefined) return;
  if (presence === 'offline') {
    process.stderr.write(`vigie: ${vin} is offline; the broker keeps the command for it for ${valid} s\n`);
  }
  const report = reportTo(lines, format);
  const deliveries = await Deliveries.open({
    vin,
    client,
    signer,
    valid,
    wait,
    repeats: presence === 'online',
    report,
  });
  let failed = false;
  // One after the other: a request may need the previous one, and a failure must be reported before the next one
  // starts.
  for (const request of requests) {
    const outcome = await deliveries.send(request);
    if (outcome.report === undefined) {
      process.stderr.write(
        `vigie: ${outcome.states === 0 ? 'no answer' : 'no final answer'} within ${valid + wait} s: ` +
          `${vin} is ${presence}${presence === 'offline' ? '' : `; does it trust this key ${key} (vigie keys)?`}\n`,
      );
    }
    failed ||= outcome.report === undefined || outcome.report.status === 'Failed';
    if (outcome.report === undefined) break;
  }
  await lines.flush();
  await client.close();
  process.exitCode = failed ? 1 : 0;
}

function reportTo(lines: Lines, format: Format): (state: RemoteReport) => void {
  return (state) => {
    lines.line(format === 'ndjson' ? JSON.stringify(state) : explain(state));
    lines.flush().catch((error: Error) => process.stderr.write(`vigie: ${error.message}\n`));
  };
}

/** Sends the command through the hub at `url`. */
async function sendTo(
  url: string,
  vin: string,
  [what = '', ...words]: readonly string[],
  options: Options,
  lines: Lines,
): Promise<void> {
  if (isOrder(what)) throw new VigieError('usage.wrong', `"${what}" is for the agent itself: leave --hub out`);
  const request = requestOf(what, words, detailsOf(options));
  const { tokenFile, ca, wait } = options;
  const hub = hubInterfaceOf({ url, tokenFile, ca });
  const report = reportTo(lines, formatOf(options.format));
  const outcome = await sendThroughHub(request, { vin, hub, wait, report });
  if (outcome.report === undefined) {
    const reason = outcome.fault?.message ?? `is ${vin} online, and does it trust the key of the hub?`;
    process.stderr.write(`vigie: no final answer within ${outcome.waited} s: ${reason}\n`);
  }
  await lines.flush();
  process.exitCode = outcome.report === undefined || outcome.report.status === 'Failed' ? 1 : 0;
}

/** Returns the presence of the car: online, asleep or offline. If the broker has none, reports this and exits. */
async function presenceOf(client: CloudClient, vin: string): Promise<string | undefined> {
  const { kept } = await followPresence(client, vin);
  const word = await kept;
  if (word === undefined) {
    process.stderr.write(`vigie: ${explainAbsence(vin)}; nothing was sent\n`);
    process.exitCode = 1;
    await client.close();
  }
  return word;
}

/** Prints the monitors in the car's last report. */
async function listMonitors(vin: string, options: BrokerOptions, format: Format, lines: Lines): Promise<void> {
  const client = await connectTo(options);
  if ((await presenceOf(client, vin)) === undefined) return;
  const list = await keptMonitors(client, vin);
  await client.close();
  if (list === undefined) {
    process.stderr.write('vigie: the broker keeps no list of monitors of this car: it was never given one\n');
    process.exitCode = 1;
    return;
  }
  for (const line of format === 'ndjson' ? [JSON.stringify(list)] : explainList(list)) lines.line(line);
  await lines.flush();
}

const NO_KEY =
  'no signing key. Name with --keys a folder with a key that the car trusts, or make one for a car of your own with `vigie ' +
  'keys make NAME`. Cars of a hub, and those of `vigie bench --cars`, obey their hub: send with --hub URL';

/** Returns the name of the only signing key. @throws VigieError `usage.wrong` if there is none or more than one */
async function onlyKey(directory: string): Promise<string> {
  const found = (await listKeys(directory)).filter((known) => known.signs);
  if (found.length === 1 && found[0] !== undefined) return found[0].name;
  if (found.length === 0) {
    throw new VigieError('usage.wrong', NO_KEY, { where: directory });
  }
  throw new VigieError(
    'usage.wrong',
    `several keys, choose with --signing-key: ${found.map((k) => k.name).join(', ')}`,
    {
      where: directory,
    },
  );
}

function detailsOf(options: Options): Details {
  const { at, until, days, slot, once, level, type, running, shutdown, id, side, kinds, interval } = options;
  const { while: condition, before, after, buses, identifiers } = options;
  const all = {
    at,
    until,
    days,
    slot,
    once,
    level,
    type,
    running,
    shutdown,
    id,
    side,
    kinds,
    interval,
    while: condition,
    before,
    after,
    buses,
    identifiers,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Details;
}

function seconds(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('a positive number of seconds.');
  return number;
}
