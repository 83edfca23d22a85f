/** All files that the Debian package installs in addition to the executable. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { commandLine } from '../../commands/vigie.ts';
import { debianChangelog } from './changelog.ts';
import { bashCompletion, fishCompletion, zshCompletion } from './completion.ts';
import { licences, programLicences } from './licences.ts';
import { manualPages } from './manual.ts';
import { PAGES, pageIn, pagePlaces } from './pages.ts';
import type { ProgramKind } from './program.ts';
import { SBOM_FILE, sbomOf } from './sbom.ts';
import type { PackageTarget } from './targets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const service = join(root, 'scripts/service');

/** Maintainer of the package. The project has no address yet, and `.example` never resolves (RFC 2606). */
export const MAINTAINER = 'Vigie <maintainers@vigie.example>';

/** Example of a configuration, which the installer of a car edits. An upgrade asks before it changes an edited file. */
export const CONFIGURATION = 'etc/vigie/vigie.yaml';

const copyright = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: vigie
Comment: The executable holds Node.js and packages of npm. Their licences are in
 third-party-licences.gz beside this file.

Files: *
Copyright: 2026 the authors of Vigie
License: Apache-2.0
 The whole text is in /usr/share/common-licenses/Apache-2.0.
`;

/** Returns files by their path in the system. The same sources and the same date give the same bytes. */
export async function contents(
  target: PackageTarget,
  version: string,
  date: Date,
  kind: ProgramKind = 'executable',
): Promise<ReadonlyMap<string, Uint8Array | string>> {
  const shipped = new Map<string, string>([
    ['config/generated/vigie.schema.json', 'usr/share/vigie/vigie.schema.json'],
    ['config/generated/profile.schema.json', 'usr/share/vigie/profile.schema.json'],
    ...[
      'vigie.cddl',
      'signed-command.cddl',
      'openapi.json',
      'asyncapi.json',
      'dictionary.json',
      'slot-numbers.json',
      'slots.json',
    ].map((name) => [`protocol/generated/${name}`, `usr/share/vigie/${name}`] as const),
    ...['receive.py', 'fleet-client.mjs'].map((name) => [`docs/${name}`, `${PAGES}/examples/${name}`] as const),
    ...examples(),
  ]);
  const pages = pagePlaces(root);
  const places = new Map([...pages, ...shipped, ['CHANGELOG.md', `${PAGES}/changelog.gz`]]);
  const changes = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const program = await commandLine();
  const manual = manualPages(program, version, date);
  return new Map<string, Uint8Array | string>([
    [CONFIGURATION, readFileSync(join(service, 'vigie.yaml'))],
    ['usr/lib/systemd/system/vigie.service', readFileSync(join(service, 'vigie.service'))],
    // The unit is not enabled: a package for cars must not start a hub.
    ['usr/lib/systemd/system/vigie-hub.service', readFileSync(join(service, 'vigie-hub.service'))],
    ['usr/lib/sysusers.d/vigie.conf', readFileSync(join(service, 'sysusers.conf'))],
    ['usr/lib/tmpfiles.d/vigie.conf', readFileSync(join(service, 'tmpfiles.conf'))],
    ['usr/lib/sysctl.d/vigie.conf', readFileSync(join(service, 'sysctl.conf'))],
    ['usr/share/bash-completion/completions/vigie', bashCompletion(program)],
    ['usr/share/zsh/vendor-completions/_vigie', zshCompletion(program)],
    ['usr/share/fish/vendor_completions.d/vigie.fish', fishCompletion(program)],
    // These apply to Node's executable.
    ...(kind === 'script'
      ? []
      : [
          [
            'usr/share/lintian/overrides/vigie',
            readFileSync(join(import.meta.dirname, 'debian/lintian-overrides')),
          ] as const,
        ]),
    [`${PAGES}/copyright`, kind === 'script' ? copyright.replace('Node.js and ', '') : copyright],
    [`${PAGES}/third-party-licences.gz`, compressed(kind === 'script' ? programLicences() : licences(target))],
    [`${PAGES}/${SBOM_FILE}`, sbomOf({ kind, target })],
    [`${PAGES}/changelog.gz`, compressed(debianChangelog(changes, version, MAINTAINER, date))],
    ...[...manual].map(([name, page]) => [`usr/share/man/man1/${name}.gz`, compressed(page)] as const),
    ...[...pages].map(([page, place]) => [place, pageIn(root, page, places)] as const),
    ...[...shipped].map(([file, place]) => [place, example(file)] as const),
  ]);
}

/**
 * Lists a configuration, one for the broker, alert rules, dashboards, and the shipped profiles with their network descriptions. Users copy and
 * edit them.
 */
function examples(): readonly (readonly [file: string, place: string])[] {
  const filesOf = (folder: string, place: string): (readonly [string, string])[] =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .sort()
      .map((file) => [file, `${PAGES}/examples/${place}/${relative(folder, file)}`]);
  return [
    ['scripts/service/vigie.yaml', `${PAGES}/examples/vigie.yaml`],
    ['config/brokers/mosquitto.conf', `${PAGES}/examples/mosquitto.conf`],
    ['config/brokers/mosquitto.acl', `${PAGES}/examples/mosquitto.acl`],
    ['config/prometheus/vigie-hub.yaml', `${PAGES}/examples/prometheus-vigie-hub.yaml`],
    ...filesOf('config/grafana', 'grafana'),
    ...filesOf('config/vehicles', 'profiles'),
  ];
}

function example(file: string): Uint8Array | string {
  const bytes = readFileSync(join(root, file));
  return /\.(yaml|conf)$/.test(file) ? bytes.toString('utf8').replaceAll('npx vigie', 'vigie') : bytes;
}

/** Compresses as Debian policy 12.3 requires. The time in the header is 0. */
function compressed(text: string): Uint8Array {
  return gzipSync(text, { level: 9 });
}
