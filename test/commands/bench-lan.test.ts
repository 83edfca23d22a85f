/** `vigie bench --lan`: HTTPS in the local network with one token per browser. */

import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lanPage } from '../../commands/bench-lan.ts';
import { DAY } from '../../protocol/calendar.ts';
import { defined } from '../../protocol/defined.ts';
import { VigieProcess, vigie } from '../rig/bench.ts';

const folder = mkdtempSync(join(tmpdir(), 'vigie-lan-'));
let bench: VigieProcess;
let port: number;

beforeAll(async () => {
  bench = new VigieProcess(['bench', '--lan', '--data', folder, '--port', '0', '--http', '0', '--scenario', 'parked']);
  await bench.says('which this bench has made itself');
  port = Number(/In the local network: https:\/\/[\d.]+:(\d+)\//.exec(bench.output)?.[1]);
});
afterAll(async () => {
  await bench.end('SIGINT');
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly text: string;
}

/** Requests over TLS from this machine, trusting only the certificate of the bench. */
function ask(path: string, cookie?: string, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      method,
      ca: readFileSync(join(folder, 'lan.pem')),
      headers: defined({ cookie }),
    };
    request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, location: headers.location, cookies: headers['set-cookie'] ?? [], text });
      });
    })
      .on('error', reject)
      .end();
  });
}

const tokens = (): string[] => [...bench.output.matchAll(/\?token=([\w-]+)/g)].map(([, token]) => token as string);

test('without the token no page, script, value, operation or document is served', async () => {
  for (const path of [
    '/',
    '/page/page.js',
    '/live',
    '/vigie/v1/car',
    '/fleets',
    '/docs',
    '/openapi.json',
    '/nothing',
  ]) {
    const { status, text } = await ask(path);
    expect([path, status]).toEqual([path, 403]);
    expect(text).toContain('open the newest address that the bench printed');
  }
  expect((await ask('/?token=wrong')).status).toBe(403);
  expect((await ask('/vigie/v1/car?token=wrong', '__Host-vigie-bench=wrong')).status).toBe(403);
  // The token is valid only for the page in a browser.
  expect((await ask(`/vigie/v1/car?token=${tokens().at(-1)}`)).status).toBe(403);
  expect((await ask(`/?token=${tokens().at(-1)}`, undefined, 'POST')).status).toBe(403);
});

test('a token admits one browser, which then sees everything, and the bench prints a new token', async () => {
  const token = tokens().at(-1);
  const entered = await ask(`/?token=${token}`);
  expect(entered).toMatchObject({ status: 303, location: '/' });
  expect(entered.cookies).toEqual([
    expect.stringMatching(/^__Host-vigie-bench=[\w-]{22}; Path=\/; Secure; SameSite=Strict; HttpOnly$/),
    'vigie-lan=1; Path=/; Secure; SameSite=Strict',
  ]);
  const cookie = `vigie-lan=1; ${entered.cookies[0]?.split(';')[0]}`;
  expect((await ask('/', cookie)).text).toContain('/page/page.js');
  expect((await ask('/page/page.js', cookie)).status).toBe(200);
  expect(JSON.parse((await ask('/vigie/v1/car', cookie)).text)).toMatchObject({ bench: true });
  expect((await ask(`/?token=${token}`, cookie)).status).toBe(303);
  await bench.says('a browser was let in; for another one: https://');
  expect((await ask(`/?token=${token}`)).status).toBe(403);
  expect(tokens().at(-1)).not.toBe(token);
  expect((await ask(`/?token=${tokens().at(-1)}`)).status).toBe(303);
});

test('the certificate covers the addresses and names of the machine, and only its owner can read the key', async () => {
  const certificate = new X509Certificate(readFileSync(join(folder, 'lan.pem')));
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkHost('localhost', { subject: 'never' })).toBe('localhost');
  expect(certificate.checkHost(`${hostname()}.local`, { subject: 'never' })).toBe(`${hostname()}.local`);
  expect(bench.output).toContain(`SHA-256 ${certificate.fingerprint256}`);
  expect(statSync(join(folder, 'lan-key.pem')).mode & 0o777).toBe(0o600);
});

test('the certificate is reused, and replaced a month before it expires or when its file is damaged', () => {
  const data = mkdtempSync(join(folder, 'kept-'));
  const now = Date.UTC(2026, 0, 31);
  const made = (at: number): string => lanPage(data, at, () => undefined).fingerprint;
  const first = made(now);
  expect(made(now + 300 * DAY)).toBe(first);
  const second = made(now + 370 * DAY);
  expect(second).not.toBe(first);
  writeFileSync(join(data, 'lan.pem'), 'not a certificate');
  expect(made(now + 370 * DAY)).not.toBe(second);
  // From 2050 on, X.509 encodes times as GeneralizedTime.
  const late = lanPage(mkdtempSync(join(folder, 'late-')), Date.UTC(2049, 11, 1), () => undefined);
  expect(new X509Certificate(readFileSync(late.serving.tls.cert)).validTo).toMatch(/ 2050 GMT$/);
});

test('bench --lan --cars is refused with the reason', async () => {
  const { status, stderr } = await vigie('bench', '--data', join(folder, 'cars'), '--cars', '2', '--lan');
  expect(status).toBe(2);
  expect(stderr).toContain('--lan is for one car: leave out --cars or --lan');
});
