/**
 * Round trip of a command as a program of contest.ts: the cloud of one car, which it starts. Arguments: the car, one of
 * `vigie`, `mosquitto`, `mqttjs`, `mqttjs-nodelay` and `medium`, which only waits for the disk; port of the broker;
 * vehicle profile; directory; maximum number of rounds; commands in sequence per round. With `car` as an additional
 * first argument, the program is that car.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { once } from 'node:events';
import { fdatasyncSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'mqtt';
import { generateKey } from '../../adapters/keys/index.ts';
import { keyIdOf } from '../../adapters/keys/trust-file.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import { ES256, encodeSigned, type SignatureHeader } from '../../protocol/cose.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { downTopic, upTopic } from '../../protocol/topics.ts';
import { answer, type Work } from './answers.ts';
import { startPromptCar } from './prompt-car.ts';

const VIN = 'VF3VGEBENCH000001';
const KEY = 'cloud';
/** Answer of the other cars, which is as long as a signed command. mosquitto_pub sends one line at a time. */
const LINE = 'x'.repeat(200);
/** Size in bytes of one write to the medium. */
const PAGE = 4096;
/** Shortest time in ms between two commands: the car processes 50 messages per second and drops the others. */
const PACE = 25;

const [role = '', ...rest] = process.argv.slice(2);
const [kind = '', port = '', profile = '', folder = '', rounds = '', row = ''] =
  role === 'car' ? rest : [role, ...rest];
// Check and rounds are different processes, each with a new car.
const directory = role === 'car' ? folder : mkdtempSync(join(folder, 'car-'));
const url = `mqtt://127.0.0.1:${port}`;
// Each contestant has its own car; all cars use the same broker.
const vin = VIN.slice(0, -1) + ['vigie', 'mosquitto', 'mqttjs', 'mqttjs-nodelay'].indexOf(kind);
const keys = join(directory, 'keys');

if (role === 'car') await becomeCar();
else await answer(kind === 'medium' ? waiting() : await becomeCloud());
process.exit(0);

async function becomeCar(): Promise<void> {
  const ready =
    kind === 'vigie' ? startPromptCar({ vin, url, profile, keys, directory }) : startEcho(kind === 'mqttjs-nodelay');
  await ready;
  console.log('ready');
  // Runs until the cloud ends.
  await once(process.stdin.resume(), 'end');
}

/** Uses the library as documented. With `noDelay`, each packet is sent immediately. */
async function startEcho(noDelay: boolean): Promise<void> {
  const client = connect(url);
  await new Promise<void>((resolve) => client.once('connect', () => resolve()));
  const { stream } = client as { stream: { setNoDelay?(on: boolean): void } };
  if (noDelay) stream.setNoDelay?.(true);
  client.on('message', (_topic, payload) => client.publish(upTopic(vin, 'remote'), payload, { qos: 1 }));
  await client.subscribeAsync(downTopic(vin, 'remote'), { qos: 1 });
}

async function becomeCloud(): Promise<Work> {
  if (kind === 'vigie') {
    mkdirSync(keys, { recursive: true });
    await generateKey(keys, KEY, { algorithm: 'ES256', kinds: ['Lights'] });
  }
  const cloud = await CloudClient.connect(url);
  let returned: (payload: Uint8Array) => void = () => undefined;
  await cloud.subscribe(upTopic(vin, 'remote'), (_topic, payload) => returned(payload));
  const cars = await startCar();
  process.on('exit', () => {
    for (const car of cars) car.kill();
  });
  const listen = (to: (payload: Uint8Array) => void): void => {
    returned = to;
  };
  const work = kind === 'vigie' ? commanding(cloud, listen) : echoing(cloud, listen);
  // Mosquitto's clients do not report when they are ready, so check whether a line returns.
  await work.check();
  return work;
}

async function startCar(): Promise<readonly ChildProcess[]> {
  if (kind === 'mosquitto') {
    const common = ['-h', '127.0.0.1', '-p', port, '-q', '1'];
    const pub = spawn('mosquitto_pub', [...common, '-t', upTopic(vin, 'remote'), '-l'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    // A direct pipe, so that this program does no work between the two processes.
    const sub = spawn('mosquitto_sub', [...common, '-t', downTopic(vin, 'remote')], {
      stdio: ['ignore', pub.stdin, 'inherit'],
    });
    return [sub, pub];
  }
  const car = spawn(process.execPath, [process.argv[1] ?? '', 'car', kind, port, profile, directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(car, 'exit').then(() => {
    throw new Error('the car ended before it was ready');
  });
  await Promise.race([once(createInterface({ input: car.stdout }), 'line'), gone]);
  // From now on it is no error if the car exits: it ends with this program.
  gone.catch(() => undefined);
  return [car];
}

/** Sends one line and waits until it returns. The check repeats this until the other end is ready. */
function echoing(cloud: CloudClient, listen: (to: (payload: Uint8Array) => void) => void): Work {
  const line = new TextEncoder().encode(LINE);
  const round = async (): Promise<void> => {
    const back = new Promise<void>((resolve) => listen(() => resolve()));
    await Promise.all([cloud.publish(downTopic(vin, 'remote'), line), back]);
  };
  const check = async (): Promise<string> => {
    let there = false;
    listen(() => {
      there = true;
    });
    while (!there) {
      await cloud.publish(downTopic(vin, 'remote'), line);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return 'there and back';
  };
  return { round: inARow(round), check };
}

/** Writes three states to disk: one page each, synced to the medium, in a file of constant length. */
function waiting(): Work {
  const pages = 3 * Number(row) * (Number(rounds) + 1);
  const file = openSync(join(directory, 'medium'), 'w');
  ftruncateSync(file, pages * PAGE);
  const content = new Uint8Array(PAGE).fill(1);
  let at = 0;
  const round = async (): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      writeSync(file, content, 0, PAGE, at++ * PAGE);
      fdatasyncSync(file);
    }
  };
  return { round: inARow(round), check: () => 'there and back' };
}

function inARow(once: () => Promise<void>): () => Promise<void> {
  return async () => {
    for (let n = 0; n < Number(row); n++) await once();
  };
}

/** Commands signed in advance. They switch the lamps on and off in turn; each lasts until the car reports Success. */
function commanding(cloud: CloudClient, listen: (to: (payload: Uint8Array) => void) => void): Work {
  // Does not use the sender's counter on disk: the measurement starts with a signed command.
  const key = createPrivateKey(readFileSync(join(keys, `${KEY}.pem`)));
  const header: SignatureHeader = { algorithm: ES256, keyId: keyIdOf(createPublicKey(key)) };
  const signature = (bytes: Uint8Array): Uint8Array => sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
  const issued = Date.now();
  const signed: (readonly [string, Uint8Array])[] = [];
  for (let index = 0; index < Number(rounds) * Number(row); index++) {
    const id = `command-${index}`;
    const body = encodeBody('Lights', { on: index % 2 === 0 });
    const command = { id, vin, kind: 'Lights' as const, body, issued, expires: issued + 3_600_000, counter: index };
    signed.push([id, encodeSigned(encodeCommand(command), header, signature)]);
  }
  let next = 0;
  const round = async (): Promise<void> => {
    const [id, payload] = signed[next++] as readonly [string, Uint8Array];
    const ended = new Promise<RemoteReport>((resolve) => {
      listen((bytes) => {
        const report = decodeMessage(bytes).body as RemoteReport;
        if (report.remoteActionId === id && report.status !== 'Accepted' && report.status !== 'SentToVehicle')
          resolve(report);
      });
    });
    await cloud.publish(downTopic(vin, 'remote'), payload);
    const { status, failureCause, detail } = await ended;
    if (status !== 'Success') throw new Error(`${status} ${failureCause}: ${detail}`);
  };
  return {
    ready: () => new Promise((resolve) => setTimeout(resolve, PACE * Number(row))),
    round: inARow(round),
    check: async () => {
      await round();
      return 'there and back';
    },
  };
}
