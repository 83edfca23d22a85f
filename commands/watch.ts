import { Command, Option } from 'commander';
import { decodeMessage } from '../protocol/cbor/message.ts';
import { counted } from '../protocol/counted.ts';
import { VigieError } from '../protocol/errors.ts';
import { upFilter, upKind } from '../protocol/topics.ts';
import { type BrokerOptions, connectTo, withBroker } from './broker.ts';
import { CaptureFiles } from './capture-files.ts';
import { formatOf, Lines } from './output.ts';
import { explainAbsence, followPresence } from './presence.ts';
import { MessageReader, type ReceivedMessage, ReceivedNumbers } from './received.ts';
import { vinOf } from './rig.ts';
import { untilSignal } from './signals.ts';
import { renewWatch } from './watch-renewal.ts';

/** Characters that wait for a reader who does not read; what comes then is counted and left out. */
const WAITING = 16 * 1024 * 1024;

interface Options extends BrokerOptions {
  readonly passive?: true;
  readonly captures?: string;
  readonly format?: string;
}

export function watchCommand(): Command {
  const command = new Command('watch')
    .summary('decodes and shows the messages of a car')
    .description(
      `Prints each message once: {topic, seq, at, body}, the body as JSON by the names of the schemas. It omits \
messages that the broker delivers twice, and lists missing ones at the end. Ctrl-C ends it.

While it runs, the car sends within two seconds the readings that it would otherwise gather for a minute.`,
    )
    .argument('<vin>', 'the car', vinOf);
  return withBroker(command, 'broker to listen to')
    .option('--passive', 'do not request early sending of batches from the car')
    .option('--captures <dir>', 'write each capture of raw frames there as a candump log')
    .addOption(new Option('--format <format>', 'ndjson for programs, text for people').choices(['ndjson', 'text']))
    .action(watch);
}

async function watch(vin: string, options: Options): Promise<void> {
  const format = formatOf(options.format);
  const signalled = untilSignal();
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const captures = options.captures === undefined ? undefined : new CaptureFiles(options.captures, say);
  const client = await connectTo(options);
  const numbers = new ReceivedNumbers();
  const reader = new MessageReader((catalog) => {
    process.stderr.write(`catalog ${catalog} has not come: its signals have numbers instead of names until it does\n`);
  });
  const lines = new Lines();
  let flushing = false;
  let left = 0;
  const pump = (): void => {
    if (flushing) return;
    flushing = true;
    const flushed = lines.flush();
    flushed.then(
      () => {
        flushing = false;
        if (lines.size > 0) pump();
      },
      (error: Error) => process.stderr.write(`${error.message}\n`),
    );
  };
  const show = (topic: string, payload: Uint8Array, { retained }: { retained: boolean }): void => {
    try {
      if (!numbers.admit(payload, retained)) return;
      const message = captures === undefined ? undefined : decodeMessage(payload);
      if (message?.kind === 'capture') captures?.take(message.body);
      const line = reader.line(topic, payload);
      if (lines.size > WAITING) {
        left++;
        return;
      }
      lines.line(format === 'ndjson' ? JSON.stringify(line) : text(line));
    } catch (error) {
      if (!(error instanceof VigieError)) throw error;
      process.stderr.write(`${topic}: ${error.message}\n`);
    }
    pump();
  };
  const presence = await followPresence(client, vin, (word) => process.stderr.write(`presence: ${word}\n`));
  await client.subscribe(upFilter(vin), show);
  const stop = options.passive === true ? undefined : await renewWatch(client, vin);
  process.stderr.write(`watching ${vin}\n`);
  void presence.kept.then((word) => {
    if (word === undefined) process.stderr.write(`vigie: ${explainAbsence(vin)}; waiting for the car\n`);
  });
  await signalled;
  stop?.();
  await client.close();
  captures?.close();
  if (left > 0)
    process.stderr.write(
      `${counted(left, 'message was', 'messages were')} left out: the output was not read in time\n`,
    );
  if (numbers.lost > 0)
    process.stderr.write(`${counted(numbers.lost, 'message was', 'messages were')} given up by the car\n`);
  if (numbers.missing > 0) process.stderr.write(`${counted(numbers.missing, 'message is', 'messages are')} missing\n`);
}

function text({ topic, seq, at, body }: ReceivedMessage): string {
  const kind = upKind(topic);
  return `${new Date(at).toISOString().slice(11, 23)} ${kind} #${seq} ${JSON.stringify(body)}`;
}
