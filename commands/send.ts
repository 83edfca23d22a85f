import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { CommandSigner, listKeys } from '../adapters/keys/index.ts';
import { CloudClient } from '../adapters/mqtt/index.ts';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../protocol/command.ts';
import { VigieError } from '../protocol/errors.ts';
import type { RemoteReport } from '../protocol/schema/remote.ts';
import { downTopic, upTopic } from '../protocol/topics.ts';
import { formatOf, Lines } from './output.ts';
import { benchDirectory, brokerOf } from './rig.ts';
import { explain } from './send/explain.ts';
import { type Details, usages, wishOf } from './send/wishes.ts';

interface Options extends Details {
  readonly broker?: string;
  readonly data: string;
  readonly keys?: string;
  readonly key?: string;
  readonly valid: number;
  readonly wait: number;
  readonly format?: string;
}

export function sendCommand(): Command {
  return new Command('send')
    .summary('signs a command, sends it, shows its states until done')
    .description(
      `Signs a command and sends it to the car through the broker. A line per state {remoteActionId, type, status,
failureCause?}: Accepted, SentToVehicle, then Success, AlreadyDone or Failed. Success means that the car showed it.
Exit status 0 for Success and AlreadyDone, 1 for Failed or no answer.

What can be sent:
  ${usages.join('\n  ')}

Times are those of the car's clocks, such as 07:15; --days are Mon,Tue,…
A longitude west of Greenwich begins with a minus: put -- before it.`,
    )
    .argument('<vin>', 'the car')
    .argument('<what>', 'what it is about')
    .argument('[words...]', 'what shall be done')
    .option('--at <time>', 'when it starts: a time of day, or for charging once a date-time with its offset')
    .option('--until <time>', 'when charging ends')
    .option('--days <days>', 'on which days; every day without it')
    .option('--slot <number>', 'place of the program, 1 to 4')
    .option('--once', 'the program runs once')
    .option('--level <number>', 'power of charging, 1 to 5')
    .option('--type <type>', 'how far to charge: partial or full')
    .option('--running <seconds>', 'between positions of a stolen car that drives, 5 or more')
    .option('--shutdown <seconds>', 'between positions of a stolen car that stands, 60 or more')
    .option('--broker <url>', 'broker to send through; default: that of the bench in --data')
    .option('--data <dir>', 'directory of the bench', benchDirectory)
    .option('--keys <dir>', 'directory of the signing keys (default: keys in --data)')
    .option('--key <name>', 'which key signs (default: the only one)')
    .option('--valid <seconds>', 'the car refuses to carry it out later than this', seconds, 30)
    .option('--wait <seconds>', 'how much longer to wait for the last state', seconds, 15)
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(send);
}

async function send(vin: string, what: string, words: readonly string[], options: Options): Promise<void> {
  const wish = wishOf(what, words, detailsOf(options));
  const topic = downTopic(vin, 'remote');
  const signer = await CommandSigner.open(...(await keyOf(options)));
  const broker = brokerOf(options.broker, options.data);
  const client = await CloudClient.connect(broker);
  const format = formatOf(options.format);
  const lines = new Lines();
  const id = crypto.randomUUID();

  const seen = new Set<string>();
  let answer: (report: RemoteReport | undefined) => void = () => undefined;
  const answered = new Promise<RemoteReport | undefined>((resolve) => {
    answer = resolve;
  });
  await client.subscribe(upTopic(vin, 'remote'), (_topic, message) => {
    const report = reportOn(id, message);
    if (report === undefined || seen.has(report.status)) return;
    seen.add(report.status);
    lines.line(format === 'ndjson' ? JSON.stringify(report) : explain(report));
    if (['Success', 'AlreadyDone', 'Failed'].includes(report.status)) answer(report);
    else lines.flush().catch((error: Error) => process.stderr.write(`vigie: ${error.message}\n`));
  });
  const issued = Date.now();
  const command = { id, vin, kind: wish.kind, body: encodeBody(wish.kind, wish.body), issued };
  const payload = await signer.sign((counter) =>
    encodeCommand({ ...command, expires: issued + options.valid * 1000, counter }),
  );
  await client.publish(topic, payload, {
    expiry: options.valid,
    responseTopic: upTopic(vin, 'remote'),
    correlation: new TextEncoder().encode(id),
  });
  // The car may be carrying it out until its own limit after the command's validity ends.
  const timer = setTimeout(() => answer(undefined), (options.valid + options.wait) * 1000);
  const report = await answered;
  clearTimeout(timer);
  await lines.flush();
  await client.close();
  if (report === undefined) {
    process.stderr.write(
      `vigie: ${seen.size === 0 ? 'no answer' : 'no final answer'} within ${options.valid + options.wait} s. ` +
        'Is the car online (vigie watch), and does it trust this key (vigie keys)?\n',
    );
  }
  process.exitCode = report === undefined || report.status === 'Failed' ? 1 : 0;
}

function reportOn(id: string, payload: Uint8Array): RemoteReport | undefined {
  try {
    const { body } = decodeMessage(payload);
    const report = body as RemoteReport;
    return report.remoteActionId === id ? report : undefined;
  } catch (error) {
    if (!(error instanceof VigieError)) throw error;
    process.stderr.write(`vigie: ${error.message}\n`);
    return undefined;
  }
}

async function keyOf({ keys, key, data }: Options): Promise<[directory: string, name: string]> {
  const directory = keys ?? join(data, 'keys');
  if (key !== undefined) return [directory, key];
  const found = (await listKeys(directory)).filter((known) => known.signs);
  if (found.length === 1 && found[0] !== undefined) return [directory, found[0].name];
  if (found.length === 0) {
    throw new VigieError('usage.wrong', 'no signing key; make one with `vigie keys make NAME`', { where: directory });
  }
  throw new VigieError('usage.wrong', `several keys, choose with --key: ${found.map((k) => k.name).join(', ')}`, {
    where: directory,
  });
}

function detailsOf(options: Options): Details {
  const { at, until, days, slot, once, level, type, running, shutdown } = options;
  const all = { at, until, days, slot, once, level, type, running, shutdown };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Details;
}

function seconds(value: string): number {
  const number = Number(value);
  if (!Number.isFinite(number) || number <= 0) throw new InvalidArgumentError('a positive number of seconds.');
  return number;
}
