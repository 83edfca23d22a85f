/** The `exits.abrp` section of vigie.yaml: A Better Routeplanner, which plans with the car's present values. */
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { checkAwaited } from './awaited-file.ts';
import { closed, filePath, line } from './fields.ts';
import type { Findings } from './findings.ts';
import { isLoopback } from './http.ts';

export const abrpSchema = closed('A Better Routeplanner gets the present values; see docs/exits.md', {
  tokenFile: filePath('File that contains only the token of the car (“generic” in the app)'),
  apiKeyFile: filePath('File that contains only the key for the telemetry interface, which Iternio gives'),
  url: Type.Optional(
    line('Address of the interface; default https://api.iternio.com', {
      pattern: '^https?://[^\\s@?#"\']+$',
      expected: 'an address such as https://api.iternio.com',
    }),
  ),
});

/** A Better Routeplanner, with absolute paths. Read the files with `readSecret`. */
export interface AbrpConfiguration {
  readonly url: string;
  readonly tokenFile: string;
  readonly apiKeyFile: string;
}

/** Reads the section at `at`, which matches its schema. `beside` returns absolute paths. */
export function readAbrp(
  { url = 'https://api.iternio.com', tokenFile, apiKeyFile }: Static<typeof abrpSchema>,
  at: string,
  beside: (path: string) => string,
  findings: Findings,
): AbrpConfiguration {
  const files = { tokenFile: beside(tokenFile), apiKeyFile: beside(apiKeyFile) };
  for (const [name, file] of Object.entries(files)) checkAwaited(`${at}/${name}`, file, findings, { secret: true });
  if (!URL.canParse(url)) findings.error(`${at}/url`, 'this is not an address', 'write https://api.iternio.com');
  else if (new URL(url).protocol !== 'https:' && !isLoopback(new URL(url).hostname)) {
    findings.error(`${at}/url`, 'the token would go over the network unencrypted', 'write https:// in url');
  }
  return { url, ...files };
}
