/** The sections `metrics` and `health` of vigie.yaml. */
import { defined } from '../protocol/defined.ts';
import { type HealthSettings, healthSettings } from '../protocol/settings.ts';
import type { ConfigurationInput } from './configuration-schema.ts';
import type { Findings } from './findings.ts';
import { readSettings } from './settings.ts';

/** Address of the metrics server: a Unix socket, or a port on the loopback interface. */
export type Listening =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'loopback'; readonly host: string; readonly port: number };

export interface ServiceConfiguration {
  /** If omitted, only `vigie status` can read metrics, through the folder of records. */
  readonly metrics?: Listening;
  readonly health: HealthSettings;
}

/** Length in bytes of the longest address of a Unix socket (unix(7)). */
const LONGEST_PATH = 107;

/** Reads the sections `metrics` and `health`. */
export function readService(
  input: ConfigurationInput,
  beside: (path: string) => string,
  findings: Findings,
): ServiceConfiguration {
  const listen = findings.sound('/metrics') ? input.metrics?.listen : undefined;
  const metrics = listen === undefined ? undefined : readListening(listen, beside, findings);
  return {
    ...defined({ metrics }),
    health: readSettings(healthSettings, input.health, '/health', findings),
  };
}

function readListening(written: string, beside: (path: string) => string, findings: Findings): Listening | undefined {
  if (written.startsWith('unix:')) {
    const path = beside(written.slice('unix:'.length));
    if (Buffer.byteLength(path) <= LONGEST_PATH) return { kind: 'unix', path };
    findings.error('/metrics/listen', `${path} is too long for a socket`, `at most ${LONGEST_PATH} bytes`);
    return undefined;
  }
  const split = written.lastIndexOf(':');
  const port = Number(written.slice(split + 1));
  if (port <= 65_535) return { kind: 'loopback', host: written.slice(0, split).replaceAll(/[[\]]/g, ''), port };
  findings.error('/metrics/listen', `${port} is not a port`, 'ports are 0 to 65535; 0 selects any free port');
  return undefined;
}
