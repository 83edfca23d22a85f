/** Sends messages of a service to systemd (sd_notify(3)): lines of `NAME=value` in a datagram to systemd's socket. */
import type { Log } from '../../agent/ports.ts';
import { type Datagrams, datagramsTo } from './libc.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SystemdNotifier {
  /** Reports that the service has started. */
  ready(status: string): void;
  /** Reports a line for people to read (`systemctl status`). */
  status(text: string): void;
  /** Reports that the service is stopping. */
  stopping(status: string): void;
  /** Reports that the service is alive. */
  feed(): void;
  /** Sets the watchdog interval from now on in ms. */
  feedWithin(ms: number): void;
  /** Asks the manager for more time in ms to start or stop. */
  extend(ms: number): void;
  close(): void;
}

/** Does nothing: for a process that was not started by a service manager. */
const deaf: SystemdNotifier = {
  ready: () => undefined,
  status: () => undefined,
  stopping: () => undefined,
  feed: () => undefined,
  feedWithin: () => undefined,
  extend: () => undefined,
  close: () => undefined,
};

/**
 * Opens the socket of the service manager that started this process. Without a manager, the calls do nothing. If the
 * manager does not receive messages, logs that once and continues.
 */
export async function openNotifier(environment: Environment, log: Log): Promise<SystemdNotifier> {
  const path = environment['NOTIFY_SOCKET'];
  if (path === undefined || path === '') return deaf;
  let socket: Datagrams;
  try {
    socket = await datagramsTo(path);
  } catch (error) {
    log.error('service.unreachable', { error: (error as Error).message });
    return deaf;
  }
  let failed = false;
  const tell = (...lines: readonly string[]): void => {
    try {
      socket.send(new TextEncoder().encode(lines.join('\n')));
      failed = false;
    } catch (error) {
      if (!failed) log.warn('service.deaf', { error: (error as Error).message });
      failed = true;
    }
  };
  const inMicroseconds = (ms: number): string => String(Math.round(ms * 1000));
  return {
    ready: (status) => tell('READY=1', `STATUS=${oneLine(status)}`),
    status: (text) => tell(`STATUS=${oneLine(text)}`),
    stopping: (status) => tell('STOPPING=1', `STATUS=${oneLine(status)}`),
    feed: () => tell('WATCHDOG=1'),
    feedWithin: (ms) => tell(`WATCHDOG_USEC=${inMicroseconds(ms)}`),
    extend: (ms) => tell(`EXTEND_TIMEOUT_USEC=${inMicroseconds(ms)}`),
    close: () => socket.close(),
  };
}

/** Returns the watchdog interval in ms; undefined: no watchdog for this process (sd_watchdog_enabled(3)). */
export function watchdogInterval(environment: Environment, pid: number = process.pid): number | undefined {
  const written = environment['WATCHDOG_USEC'];
  const owner = environment['WATCHDOG_PID'];
  if (written === undefined || !/^[0-9]{1,15}$/.test(written) || Number(written) === 0) return undefined;
  return owner === undefined || owner === String(pid) ? Number(written) / 1000 : undefined;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
