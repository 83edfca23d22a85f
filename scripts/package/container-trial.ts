/**
 * Builds the image of scripts/container with buildah, on a base of debootstrap because no image registry is needed then,
 * checks it, and runs it with the services of compose.yaml (stack.sh). Needs root, buildah, docker-compose, Mosquitto,
 * PostgreSQL and curl.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bootstrapped } from '../bootstrap.ts';

const SOURCE = fileURLToPath(new URL('../..', import.meta.url));
const CONTAINER = join(SOURCE, 'scripts/container');
const BASE = 'localhost/vigie-base';
const IMAGE = 'localhost/vigie';
/** Largest size in bytes of the layers above the base, compressed. */
const MAX_IMAGE_BYTES = 80e6;
/** Longest time in ms for one program, of which the services need most: they start, and serve a car. */
const MAX_PROGRAM_MS = 300_000;

/** @param debian package of this machine's architecture. @param folder empty folder for the images */
export function tryContainer(debian: string, folder: string): void {
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  const buildah = (...args: readonly string[]): string => outputOf('buildah', [...store, ...args]);
  makeBase(buildah, join(folder, 'base'));
  const context = join(folder, 'context');
  mkdirSync(join(context, 'dist'), { recursive: true });
  copyFileSync(debian, join(context, 'dist/vigie_0_amd64.deb'));
  const file = join(CONTAINER, 'Containerfile');
  buildah(
    'bud',
    '--format',
    'docker',
    '--isolation',
    'chroot',
    '--build-arg',
    `BASE=${BASE}`,
    '--tag',
    IMAGE,
    '--file',
    file,
    context,
  );

  const { Docker: image } = JSON.parse(buildah('inspect', '--type', 'image', IMAGE)) as {
    readonly Docker: { readonly config: Readonly<Record<'User' | 'Entrypoint' | 'Healthcheck', unknown>> };
  };
  const { config } = image;
  assert.match(String(config.User), /^[1-9]\d*:[1-9]\d*$/, 'the user is not root, and a number');
  assert.deepEqual(config.Entrypoint, ['/usr/bin/vigie']);
  assert.ok(config.Healthcheck, 'it has a health check');
  const layout = join(folder, 'layout');
  buildah('push', IMAGE, `oci:${layout}:vigie`);
  const bytes = layersAboveBase(layout);
  assert.ok(bytes < MAX_IMAGE_BYTES, `${bytes} bytes`);
  console.log(`          ${(bytes / 1e6).toFixed(1)} MB compressed without the base`);

  checkCompose(folder);
  const system = buildah('mount', buildah('from', IMAGE).trim()).trim();
  const stack = join(folder, 'stack');
  mkdirSync(stack);
  // Users without privileges have their own folders in it.
  for (const place of [folder, stack]) chmodSync(place, 0o755);
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child'];
  outputOf('unshare', [...namespaces, 'sh', join(CONTAINER, 'stack.sh'), system, SOURCE, stack]);
}

function makeBase(buildah: (...args: readonly string[]) => string, folder: string): void {
  mkdirSync(folder);
  execFileSync('tar', ['-C', bootstrapped([]), '-cf', join(folder, 'base.tar'), '.']);
  writeFileSync(join(folder, 'Containerfile'), 'FROM scratch\nADD base.tar /\n');
  buildah('bud', '--isolation', 'chroot', '--tag', BASE, '--file', join(folder, 'Containerfile'), folder);
}

/** Returns the size of all layers but the first of the only image in an OCI image layout, in bytes. */
function layersAboveBase(layout: string): number {
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'));
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
  const { manifests } = read(join(layout, 'index.json')) as { readonly manifests: readonly [{ digest: string }] };
  const { layers } = read(blob(manifests[0].digest)) as { readonly layers: readonly { readonly digest: string }[] };
  return layers.slice(1).reduce((sum, { digest }) => sum + statSync(blob(digest)).size, 0);
}

/** Checks compose.yaml with the parser of docker-compose, which wants the file of the password to exist. */
function checkCompose(folder: string): void {
  const place = join(folder, 'compose');
  mkdirSync(place);
  copyFileSync(join(CONTAINER, 'compose.yaml'), join(place, 'compose.yaml'));
  writeFileSync(join(place, 'database-password'), 'the password\n');
  outputOf('docker-compose', ['--file', join(place, 'compose.yaml'), 'config', '--quiet']);
}

/** Runs a program to its end. @throws AssertionError with its output if it fails */
function outputOf(program: string, args: readonly string[]): string {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LC_ALL: 'C' };
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_PROGRAM_MS,
    killSignal: 'SIGKILL',
  });
  assert.equal(status, 0, `${program} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
