/** Ports for services that a command starts on this machine: the standard port if free, otherwise any free port. */
import { createServer } from 'node:net';
import { InvalidArgumentError } from 'commander';

export const STANDARD_BROKER = 1883;
export const STANDARD_HTTP = 8080;
/** Standard ports of MQTT over TLS and of enrolment. */
export const STANDARD_SECURE_BROKER = 8883;
export const STANDARD_ENROLMENT = 8443;

/** Parses a port from the command line. @throws InvalidArgumentError, which ends the command */
export function portOf(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535.');
  return value;
}

/** Returns true if no other program listens on this port. */
export function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Reports the address of a service that is not on its standard port. */
export function sayElsewhere(standard: number, what: string, url: string, option: string): void {
  process.stderr.write(
    `vigie: another program uses port ${standard}: the ${what} is at ${url} (${option} chooses a port)\n`,
  );
}

/** Returns both ports of a hub. Reports it if another program uses a standard port. */
export async function chosenPorts(asked: { readonly port?: number; readonly http?: number }) {
  const freeBroker = asked.port !== undefined || (await isFree(STANDARD_BROKER));
  const freeHttp = asked.http !== undefined || (await isFree(STANDARD_HTTP));
  return {
    port: asked.port ?? (freeBroker ? STANDARD_BROKER : 0),
    http: asked.http ?? (freeHttp ? STANDARD_HTTP : 0),
    say: (broker: string, http: string): void => {
      if (!freeBroker) sayElsewhere(STANDARD_BROKER, 'broker', broker, '--port');
      if (!freeHttp) sayElsewhere(STANDARD_HTTP, 'HTTP interface', http, '--http');
    },
  };
}
