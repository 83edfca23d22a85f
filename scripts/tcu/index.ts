/**
 * `npm run test:tcu [-- [arm64] [armv7] [x64] [service] [fresh] [--cuts N] [--load RATE] [--seconds N] [--console]]`:
 * tests the executable of an architecture (default: arm64) on an emulated unit with a real kernel and a CAN bus. It
 * receives frames from canplayer, cangen and isotpsend, publishes to a Mosquitto on the unit, receives commands, loses
 * its interface, and then loses power N times (default 10) while the cloud counts messages outside. `--load`: before
 * that, RATE frames a second on four buses for N seconds (default 60), none of which may be lost. `service`: a whole
 * Debian with systemd and our package, in which the service is monitored, hangs and crashes. `fresh`: a Debian as
 * debootstrap creates it, in which the test types the commands of docs/packaging.md. `--console` shows the unit's
 * console. The last line is `N passed, N failed, N skipped`; the exit status is 0 if no test failed. As root on Debian
 * it installs missing packages; Debian packages for the unit are downloaded the first time.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { withFreePorts } from '../../test/rig/daemon.ts';
import { MosquittoRig } from '../../test/rig/mosquitto.ts';
import { makePackage } from '../package/deb.ts';
import { makeExecutable } from '../package/executable.ts';
import { hostTarget } from '../package/targets.ts';
import { Cloud } from './cloud.ts';
import { cutPower, LINK_UP } from './cuts.ts';
import { makeDebian, makeFreshDebian } from './debian.ts';
import { type Disks, makeCar, makeDisks } from './disks.ts';
import { distributionFor } from './distribution.ts';
import { EXAMPLE_VIN, fresh, newerPackage } from './fresh.ts';
import { load, type Outcome, recorded, writeLoad } from './load.ts';
import { Machine } from './machine.ts';
import { type Platform, platformNamed, platforms } from './platforms.ts';
import { scenario } from './scenario.ts';
import { READY, service } from './service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const began = performance.now();
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    cuts: { type: 'string', default: '6' },
    load: { type: 'string', default: '0' },
    seconds: { type: 'string', default: '60' },
    console: { type: 'boolean', default: false },
  },
});
Machine.shown = values.console;
// Exit on a signal, so that the exit handlers end all processes of this run and remove its files.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const [cuts, rate, seconds] = [Number(values.cuts), Number(values.load), Number(values.seconds)];
const known = [...platforms.map(({ name }) => name), 'service', 'fresh'];
const wanted = positionals.length === 0 ? ['arm64'] : positionals;
let [passed, failed] = [0, 0];

if (
  [cuts, rate / 4, seconds].some((count) => !Number.isInteger(count) || count < 0) ||
  wanted.some((name) => !known.includes(name))
) {
  console.error(`usage: npm run test:tcu -- [${known.join('] [')}] [--cuts N] [--load RATE [--seconds N]] [--console]`);
  process.exitCode = 2;
} else {
  for (const name of wanted) await check(`${name}: the test`, () => inFolder(name));
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  // Children that a failed check left running must not keep this process running.
  process.exit(failed === 0 ? 0 : 1);
}

async function inFolder(name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-tcu-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  try {
    mkdirSync(join(folder, 'keys'));
    await Cloud.makeKey(join(folder, 'keys'));
    makeCar(join(folder, 'car'), join(folder, 'keys/trust.json'));
    if (rate > 0) writeLoad(join(folder, 'car'), rate, seconds);
    if (name === 'service') await asService(folder);
    else if (name === 'fresh') await asFresh(folder);
    else await run(platformNamed(name), folder);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

async function run(platform: Platform, folder: string): Promise<void> {
  install(platform);
  const [executable, keys] = [join(folder, 'vigie'), join(folder, 'keys')];
  await makeExecutable(platform.target, executable);
  const disks = makeDisks(folder, distributionFor(platform), executable, join(folder, 'car'));
  await onTheBus(platform, disks, keys);
  if (cuts > 0) {
    await check(`${platform.name}: power is cut ${cuts} times, and nothing acknowledged is lost`, () =>
      withoutPower(platform, disks, keys),
    );
  }
}

/** Tests a unit with a whole Debian for this machine's architecture. Its broker runs on this machine. */
async function asService(folder: string): Promise<void> {
  const platform = platformNamed(hostTarget().name);
  install(platform, 'debootstrap');
  const broker = new MosquittoRig();
  await broker.start();
  try {
    const [executable, deb] = [join(folder, 'vigie'), join(folder, 'vigie.deb')];
    await makeExecutable(platform.target, executable);
    await makePackage(platform.target, { path: executable, kind: 'executable' }, deb, 'quick');
    const environment = `VIGIE_MQTT_URL=mqtt://10.0.2.2:${broker.port}\nVIGIE_DATA=/var/lib/vigie\n`;
    const disks = makeDebian(folder, distributionFor(platform), deb, join(folder, 'car'), environment);
    const cloud = await Cloud.connect(broker.url, join(folder, 'keys'));
    const machine = await Machine.boot(platform, disks);
    cloud.heard = () => machine.nudge();
    tell('the unit has started');
    await machine.says(READY);
    for (const [sentence, act] of Object.entries(service)) {
      await check(`service: ${sentence}`, () => act(machine, cloud));
    }
    await cloud.close();
    await machine.powerOff();
  } finally {
    await broker.remove();
  }
}

/** Tests a Debian for this machine's architecture as debootstrap makes it. Its broker runs on this machine. */
async function asFresh(folder: string): Promise<void> {
  const platform = platformNamed(hostTarget().name);
  install(platform, 'debootstrap');
  const broker = new MosquittoRig();
  await broker.start();
  try {
    const deb = join(folder, `vigie_${manifest.version}_${platform.target.debian}.deb`);
    await makeExecutable(platform.target, join(folder, 'vigie'));
    await makePackage(platform.target, { path: join(folder, 'vigie'), kind: 'executable' }, deb, 'quick');
    const disks = makeFreshDebian(folder, distributionFor(platform), [deb, newerPackage(folder, deb)]);
    const cloud = await Cloud.connect(broker.url, join(folder, 'keys'), EXAMPLE_VIN);
    const machine = await Machine.boot(platform, disks);
    cloud.heard = () => machine.nudge();
    tell('the unit has started');
    for (const [sentence, act] of Object.entries(fresh(`mqtt://10.0.2.2:${broker.port}`))) {
      await check(`fresh: ${sentence}`, () => act(machine, cloud));
    }
    await cloud.close();
    await machine.powerOff();
  } finally {
    await broker.remove();
  }
}

/** Tests the unit with its own broker, which this process can reach. */
async function onTheBus(platform: Platform, disks: Disks, keys: string): Promise<void> {
  const port = await withFreePorts(1, async ([free = 0]) => free);
  const machine = await Machine.boot(platform, disks, port);
  tell('the kernel is up');
  await machine.run('car >/dev/null 2>&1 & true');
  await machine.start('broker', 'mosquitto -c /opt/car/mosquitto.conf', /running$/);
  const cloud = await Cloud.connect(`mqtt://127.0.0.1:${port}`, keys);
  cloud.heard = () => machine.nudge();
  await machine.start('vigie', 'vigie run -c /opt/car/vigie.yaml', LINK_UP);
  tell('the agent is connected');
  for (const [sentence, act] of Object.entries(scenario)) {
    await check(`${platform.name}: ${sentence}`, () => act(machine, cloud));
  }
  await cloud.close();
  await machine.run('killall vigie; while pidof vigie >/dev/null; do sleep 0.2; done; rm -r /data/records');
  if (rate > 0) {
    // The car would add frames of its own.
    await machine.run('killall car canplayer cangen candump; true');
    await underLoad(platform, machine);
  }
  await machine.powerOff();
}

async function underLoad({ name }: Platform, machine: Machine): Promise<void> {
  let outcome: Outcome | undefined;
  await check(
    `${name}: ${rate} frames/s on four buses for ${seconds} s: each is read, or reported as lost`,
    async () => {
      outcome = await load(machine, rate, seconds);
      const { sent, read, dropped, lasted } = outcome;
      tell(`${sent} frames in ${lasted} s: ${read} read, ${dropped} dropped`);
    },
  );
  await check(`${name}: none is lost, and each is as it was sent`, async () => {
    assert.equal(outcome?.dropped, 0);
    await recorded(machine);
  });
}

async function withoutPower(platform: Platform, disks: Disks, keys: string): Promise<void> {
  const broker = new MosquittoRig();
  await broker.start();
  try {
    const cloud = await Cloud.connect(broker.url, keys);
    await cutPower({ platform, disks, cloud, port: broker.port }, cuts, tell);
    const { messages, deliveries } = cloud.sequences;
    tell(`${messages} messages in ${deliveries} deliveries`);
    await cloud.close();
  } finally {
    await broker.remove();
  }
}

async function check(sentence: string, act: () => Promise<void>): Promise<void> {
  const outer = sentence.endsWith('the test');
  try {
    await act();
    if (outer) return;
    passed++;
    tell(`ok      ${sentence}`);
  } catch (error) {
    failed++;
    tell(`FAILED  ${sentence}\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}

function tell(words: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${words}`);
}

function install({ target, emulatedBy }: Platform, ...more: string[]): void {
  const foreign = target.arch === process.arch ? [] : target.libraries;
  const names = [...foreign, emulatedBy, 'cpio', 'e2fsprogs', 'kmod', 'mosquitto', ...more];
  const { status } = spawnSync('sh', [join(root, 'scripts/package/install.sh'), ...names], { stdio: 'inherit' });
  if (status !== 0) throw new Error('what it needs of Debian is not there');
}
