/** Messages of a service to systemd (sd_notify(3)): lines of `NAME=value` in a datagram to its socket. */
import type { Log } from '../../agent/ports.ts';
import { type Datagrams, datagramsTo } from './libc.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SystemdNotifier {
  /** It does what it is there for. */
  ready(status: string): void;
  /** One line for people (`systemctl status`). */
  status(text: string): void;
  /** It ends now. */
  stopping(status: string): void;
  /** It is alive. */
  feed(): void;
  /** From now on it is to be fed at least so often, ms. */
  feedWithin(ms: number): void;
  /** Asks the manager for this much more time to start, ms. */
  extend(ms: number): void;
  close(): void;
}

/** For a process that no service manager started. */
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
 * The socket of the service manager that started this process; without a manager, each call does nothing.
 * If the manager does not take a message, the log says so once, and everything else goes on.
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

/** How often the manager wants to be fed, ms; undefined: not at all, or not by this process (sd_watchdog_enabled(3)). */
export function watchdogInterval(environment: Environment, pid: number = process.pid): number | undefined {
  const written = environment['WATCHDOG_USEC'];
  const owner = environment['WATCHDOG_PID'];
  if (written === undefined || !/^[0-9]{1,15}$/.test(written) || Number(written) === 0) return undefined;
  return owner === undefined || owner === String(pid) ? Number(written) / 1000 : undefined;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
