import { join } from 'node:path';
import { Command, Option } from 'commander';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { isVin, upFilter, upKind } from '../protocol/topics.ts';
import { type BrokerOptions, connectTo, withBroker } from './broker.ts';
import { CaptureFiles, type CaptureFormat } from './capture-files.ts';
import { formatOf, Lines } from './output.ts';
import { explainAbsence, followAllPresence, followPresence } from './presence.ts';
import { MessageReader, type ReceivedMessage, ReceivedNumbers } from './received.ts';
import { vinOf } from './rig.ts';
import { untilSignal } from './signals.ts';
import { renewWatch } from './watch-renewal.ts';

/** Wildcard instead of a VIN: all cars that this user of the broker may read. */
const ALL = '+';

/** Largest number of characters that wait for a slow reader of the output. Further messages are counted and dropped. */
const WAITING = 16 * 1024 * 1024;

interface Options extends BrokerOptions {
  readonly passive?: true;
  readonly captures?: string;
  readonly capturesFormat?: CaptureFormat;
  readonly format?: string;
}

export function watchCommand(): Command {
  const command = new Command('watch')
    .summary('decodes and shows the messages of a car, or of all')
    .description(
      `Prints each message once: {vin, kind, topic, seq, at, body}, the body as JSON by the names of the schemas. It \
omits messages that the broker delivers twice, and lists missing ones at the end. Ctrl-C ends it.

While it runs, the car sends within two seconds the readings that it would otherwise gather for a minute. With + in \
place of a VIN it shows all cars; they keep sending at their own pace.`,
    )
    .argument('<vin>', 'the car, or + for all cars', (text: string) => (text === ALL ? ALL : vinOf(text)));
  return withBroker(command, 'broker to listen to')
    .option('--passive', 'do not request early sending of batches from the car')
    .option('--captures <dir>', 'write each capture of raw frames there')
    .addOption(
      new Option('--captures-format <format>', 'form of these files; default: candump').choices(['candump', 'mdf4']),
    )
    .addOption(
      new Option('--format <format>', 'json or ndjson for programs (a line each), text for people').choices([
        'json',
        'ndjson',
        'text',
      ]),
    )
    .action(watch);
}

/** State of one car while it is watched. */
class WatchedCar {
  readonly numbers: ReceivedNumbers;
  readonly reader: MessageReader;
  readonly captures: CaptureFiles | undefined;

  constructor(captures: string | undefined, format: CaptureFormat | undefined, say: (text: string) => void) {
    this.numbers = new ReceivedNumbers((boot) =>
      say(`the car has a new folder of records (boot ${boot}): it was wiped or replaced, and its numbers begin again`),
    );
    this.reader = new MessageReader((catalog) =>
      say(`catalog ${catalog} has not come: its signals have numbers instead of names until it does`),
    );
    this.captures = captures === undefined ? undefined : new CaptureFiles(captures, say, format);
  }
}

async function watch(vin: string, options: Options): Promise<void> {
  const all = vin === ALL;
  const format = options.format === 'json' ? 'ndjson' : formatOf(options.format);
  const signalled = untilSignal();
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const cars = new Map<string, WatchedCar>();
  const watched = (one: string): WatchedCar => {
    const { captures, capturesFormat } = options;
    const folder = captures === undefined || !all ? captures : join(captures, one);
    const car = cars.get(one) ?? new WatchedCar(folder, capturesFormat, all ? (line) => say(`${one}: ${line}`) : say);
    cars.set(one, car);
    return car;
  };
  // If a folder cannot be created, fail before any message is read.
  if (!all) watched(vin);
  const client = await connectTo(options);
  const lines = new Lines();
  let flushing = false;
  let left = 0;
  const flush = (): void => {
    if (flushing) return;
    flushing = true;
    const flushed = lines.flush();
    flushed.then(
      () => {
        flushing = false;
        if (lines.size > 0) flush();
      },
      (error: Error) => say(error.message),
    );
  };
  const show = (topic: string, payload: Uint8Array, { retained }: { retained: boolean }): void => {
    try {
      const from = topic.split('/')[2] ?? '';
      if (!isVin(from)) throw new VigieError('input.malformed', 'the third level of the topic is not a VIN');
      const { numbers, reader, captures } = watched(from);
      if (!numbers.admit(payload, retained)) return;
      const message = captures === undefined ? undefined : decodeMessage(payload);
      if (message?.kind === 'capture') captures?.take(message.body);
      const line = { vin: from, kind: upKind(topic), ...reader.line(topic, payload) };
      if (lines.size > WAITING) {
        left++;
        return;
      }
      lines.line(format === 'ndjson' ? JSON.stringify(line) : `${text(line)}${all ? ` ${from}` : ''}`);
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      say(`${topic}: ${error.message}`);
    }
    flush();
  };
  const follow = async (): Promise<(() => void) | undefined> => {
    if (all) {
      await followAllPresence(client, (one, word) => say(`presence: ${one} ${word}`));
      await client.subscribe(upFilter(), show);
      return undefined;
    }
    const presence = await followPresence(client, vin, (word) => say(`presence: ${word}`));
    await client.subscribe(upFilter(vin), show);
    void presence.kept.then((word) => {
      if (word === undefined) say(`vigie: ${explainAbsence(vin)}; waiting for the car`);
    });
    return options.passive === true ? undefined : renewWatch(client, vin);
  };
  const stop = await follow();
  say(all ? 'watching all cars' : `watching ${vin}`);
  await signalled;
  stop?.();
  await client.close();
  if (left > 0) say(`${counted(left, 'message was', 'messages were')} left out: the output was not read in time`);
  for (const [one, { numbers, captures }] of cars) {
    const prefix = all ? `${one}: ` : '';
    captures?.close();
    if (numbers.lost > 0) say(`${prefix}${counted(numbers.lost, 'message was', 'messages were')} given up by the car`);
    if (numbers.missing > 0) say(`${prefix}${counted(numbers.missing, 'message is', 'messages are')} missing`);
  }
}

function text({ topic, seq, at, body }: ReceivedMessage): string {
  const kind = upKind(topic);
  return `${new Date(at).toISOString().slice(11, 23)} ${kind} #${seq} ${JSON.stringify(body)}`;
}
