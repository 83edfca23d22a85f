/** Ports of what a command starts on this machine: a standard one where it is free, else any free one. */
import { createServer } from 'node:net';
import { InvalidArgumentError } from 'commander';

export const STANDARD_BROKER = 1883;
export const STANDARD_HTTP = 8080;
/** Ports of MQTT over TLS, and of enrolment. */
export const STANDARD_SECURE_BROKER = 8883;
export const STANDARD_ENROLMENT = 8443;

/** A port from the command line. @throws InvalidArgumentError which ends the command */
export function portOf(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) throw new InvalidArgumentError('a port is 0 to 65535.');
  return value;
}

/** Whether no other program listens on this port. */
export function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Where something is that is not at its standard port. */
export function sayElsewhere(standard: number, what: string, url: string, option: string): void {
  process.stderr.write(
    `vigie: another program uses port ${standard}: the ${what} is at ${url} (${option} chooses a port)\n`,
  );
}

/** Both ports of a hub, and what to say where a standard one is another program's. */
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
