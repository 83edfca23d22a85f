/** Runs the commands of docs/packaging.md in a fresh Debian: one sentence for each step, in order. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { upTopic } from '../../protocol/topics.ts';
import type { Machine } from './machine.ts';
import type { UnitScenario } from './scenario.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const CONFIGURATION = '/etc/vigie/vigie.yaml';
const NEWER = 'newer.deb';
/** Address of the broker that the page uses. */
const BROKER = 'mqtts://broker.example:8883';

/** VIN of the car in the example configuration. */
export const EXAMPLE_VIN: string = vinOf(readFileSync(join(root, 'scripts/service/vigie.yaml'), 'utf8'));

function vinOf(configuration: string): string {
  const vin = /^vin: (\w+)$/m.exec(configuration)?.[1];
  assert.ok(vin !== undefined, 'the example configuration has no vin');
  return vin;
}

/** Returns the lines of the page's code block that begins with the installation. */
function typedLines(broker: string): readonly string[] {
  const page = readFileSync(join(root, 'docs/packaging.md'), 'utf8');
  const block = /^ {4}apt install \.\/vigie_(?:.*\n)(?: {4}.*\n)*/m.exec(page)?.[0];
  if (block?.includes(BROKER) !== true)
    throw new Error('docs/packaging.md has no block of commands that names a broker');
  const lines = block.trimEnd().split('\n');
  // The folder contains the package for this machine's architecture.
  return lines.map((line) => line.trim().replace(BROKER, broker).replace('_amd64', '_*'));
}

/** Builds the package with a higher version and a changed example configuration. */
export function newerPackage(folder: string, deb: string): string {
  const [content, newer] = [join(folder, 'content'), join(folder, NEWER)];
  execFileSync('dpkg-deb', ['--raw-extract', deb, content]);
  const control = join(content, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, '$&+1'));
  appendFileSync(join(content, CONFIGURATION), '# of the newer package\n');
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '--build', content, newer], { stdio: 'pipe' });
  return newer;
}

async function property(machine: Machine, name: string): Promise<string> {
  const lines = await machine.run(`systemctl show vigie --value -p ${name}`);
  // The console also shows the agent's journal.
  return lines.filter((line) => !line.startsWith('vigie: ')).join('');
}

/** @param broker address at which the unit reaches the broker */
export function fresh(broker: string): UnitScenario {
  return {
    'the commands of docs/packaging.md succeed': async (machine) => {
      for (const line of typedLines(broker)) await machine.run(line);
    },

    'then the service is active and says that it is ready': async (machine) => {
      assert.equal(await property(machine, 'ActiveState'), 'active');
      assert.match(await property(machine, 'StatusText'), /^ready: /);
    },

    'the broker receives its hello': async (machine, cloud) => {
      const topic = upTopic(EXAMPLE_VIN, 'hello');
      await machine.until('a hello', () => cloud.received.find((message) => message.topic === topic));
    },

    'manual pages and completions are there': async (machine) => {
      await machine.run('dpkg --verify vigie');
      await machine.run(
        'ls /usr/share/man/man1/vigie.1.gz /usr/share/bash-completion/completions/vigie ' +
          '/usr/share/zsh/vendor-completions/_vigie /usr/share/fish/vendor_completions.d/vigie.fish',
      );
    },

    'an upgrade keeps configuration and records, and restarts the service': async (machine, cloud) => {
      const before = await property(machine, 'MainPID');
      const from = cloud.received.length;
      await machine.run(`sha256sum ${CONFIGURATION} >/tmp/before && ls /var/lib/vigie >/tmp/records`);
      await machine.run(`apt-get -y -o Dpkg::Options::=--force-confold install ./${NEWER}`);
      await machine.run('sha256sum --check /tmp/before && test -s /tmp/records');
      await machine.run('(while read -r name; do test -e "/var/lib/vigie/$name" || exit 1; done </tmp/records)');
      assert.notEqual(await property(machine, 'MainPID'), before);
      assert.equal(await property(machine, 'ActiveState'), 'active');
      await machine.until('a hello of the new process', () =>
        cloud.received.slice(from).find(({ topic }) => topic === upTopic(EXAMPLE_VIN, 'hello')),
      );
    },

    'a purge stops the service, and leaves no configuration and no records': async (machine) => {
      await machine.run('apt-get -y purge vigie');
      await machine.run('! systemctl is-active vigie');
      await machine.run('test ! -e /etc/vigie && test ! -e /var/lib/vigie && test ! -e /usr/bin/vigie');
    },
  };
}
