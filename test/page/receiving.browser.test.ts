/** `vigie/protocol` in a browser, bundled as described in docs/receiving.md. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { CarDecoder, kinds } from '../../protocol/receiver.ts';
import { hourOfTheBench } from '../rig/hour.ts';
import { describePeer } from '../rig/peers.ts';
import { launchChromium } from './browser.ts';

const receiver = fileURLToPath(new URL('../../protocol/receiver.ts', import.meta.url));

/** Time limit, ms. An hour is simulated first, and the machine may be busy. */
const PATIENCE = 600_000;

/** Exports of the bundle. */
interface Bundled {
  decodeAll(payloads: readonly string[]): string[];
}

/** A script that decodes the messages of one car in order, given in hexadecimal. */
const entry = `
import { CarDecoder } from ${JSON.stringify(receiver)};
export function decodeAll(payloads) {
  const decoder = new CarDecoder();
  return payloads.map((payload) => {
    const bytes = Uint8Array.from(payload.match(/../g), (digits) => Number.parseInt(digits, 16));
    return JSON.stringify(decoder.decode(bytes));
  });
}`;

describePeer('chromium', 'the browser bundle', () => {
  test(
    'the bundle decodes an hour of the bench car in a browser like in Node',
    async () => {
      // When it bundles for a browser, esbuild refuses modules of Node.
      const { outputFiles } = await build({
        stdin: { contents: entry, resolveDir: join(receiver, '..') },
        bundle: true,
        minify: true,
        platform: 'browser',
        format: 'iife',
        globalName: 'receiving',
        write: false,
        logLevel: 'silent',
      });
      const messages = await hourOfTheBench();
      const payloads = messages.map(({ payload }) => payload);
      const decoder = new CarDecoder();
      const expected = payloads.map((payload) => JSON.stringify(decoder.decode(Buffer.from(payload, 'hex'))));
      const told = new Set(expected.map((text) => JSON.parse(text).kind));
      expect(kinds.filter((kind) => told.has(kind))).toEqual(
        expect.arrayContaining(['status', 'telemetry', 'waypoint', 'trip', 'alert', 'collision', 'catalog', 'capture']),
      );
      const folder = mkdtempSync(join(tmpdir(), 'vigie-receiving-'));
      const context = await launchChromium(folder);
      try {
        const page = await context.newPage();
        // The code runs in the page itself, without access to Node.
        await page.addScriptTag({ content: outputFiles[0]!.text });
        const decoded = await page.evaluate(
          (all) => (globalThis as unknown as { receiving: Bundled }).receiving.decodeAll(all),
          payloads,
        );
        expect(decoded.length).toBeGreaterThan(500);
        expect(decoded).toEqual(expected);
      } finally {
        await context.close();
        rmSync(folder, { recursive: true, force: true });
      }
    },
    PATIENCE,
  );
});
