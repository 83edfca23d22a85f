import type { ActionParameters, Actuator, Clock, Log } from '../../../agent/ports.ts';
import { within } from '../../../agent/within.ts';
import { defined } from '../../../protocol/defined.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { UdsClient, type UdsRequester } from './client.ts';
import { type PreparedCommand, prepareUdsCommands, type UdsCommands } from './command.ts';
import { type KeyHooks, simpleKeys } from './security.ts';
import { DiagnosticSession } from './session.ts';

interface UdsActuatorOptions {
  readonly commands: UdsCommands;
  /** By bus of the profile; the actions of a bus that takes no requests are not offered. */
  readonly requesters: ReadonlyMap<string, UdsRequester>;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: {@link simpleKeys}. */
  readonly hooks?: KeyHooks;
}

/** Control is returned within this time when the agent stops, ms. Otherwise the control unit ends it itself. */
const FAREWELL = 3_000;

/** Carries commands out by diagnostics (ISO 14229-1) at the control units that the profile names. */
export class UdsActuator implements Actuator {
  readonly actions: ReadonlySet<string>;
  readonly #prepared: ReadonlyMap<string, PreparedCommand>;
  readonly #options: UdsActuatorOptions;
  readonly #stopping = new AbortController();
  /** Last queued command of each control unit, by bus and address: parallel sessions of one unit would end each other. */
  readonly #lines = new Map<string, Promise<void>>();

  constructor(options: UdsActuatorOptions) {
    const { prepared } = prepareUdsCommands(options.commands, options.hooks ?? simpleKeys);
    this.#options = options;
    this.#prepared = prepared;
    const reached = [...prepared].filter(([, { uds }]) => options.requesters.has(uds.bus));
    this.actions = new Set(reached.map(([action]) => action));
  }

  /** The bus of the control unit that the action needs sleeps. */
  asleep(action: string): boolean {
    const command = this.#prepared.get(action);
    return command !== undefined && this.#options.requesters.get(command.uds.bus)?.asleep === true;
  }

  /**
   * Resolves when it was done, held for as long as the profile says, and given back.
   * @throws VigieError `command.unsupported`, as {@link DiagnosticSession.run} says, and what `allowed` throws
   */
  async actuate(action: string, parameters?: ActionParameters, allowed?: () => void): Promise<void> {
    const command = this.#prepared.get(action);
    const requester = command === undefined ? undefined : this.#options.requesters.get(command.uds.bus);
    if (command === undefined || requester === undefined) {
      throw new VigieError(
        'command.unsupported',
        `the vehicle profile has no ${action} that diagnostics can carry out`,
      );
    }
    if (parameters !== undefined) {
      throw new VigieError('command.unsupported', `${action} by diagnostics takes no parameters`);
    }
    const { clock, log, requesters } = this.#options;
    const { address } = command.uds;
    const client = new UdsClient(requester, address, clock);
    const deadline = clock.monotonic() + command.within;
    const { signal } = this.#stopping;
    const guard = defined({ allowed });
    const session = new DiagnosticSession({ client, clock, log, signal, deadline, ...guard });
    // The same wires may have two names: frames by one, requests by the other.
    const [bus] = [...requesters].find(([, way]) => way === requester) ?? [];
    const line = `${bus} ${address.request} ${address.target ?? ''}`;
    const done = (this.#lines.get(line) ?? Promise.resolve()).then(() => session.run(action, command));
    const over = done.catch(() => undefined);
    this.#lines.set(line, over);
    try {
      await done;
    } finally {
      if (this.#lines.get(line) === over) this.#lines.delete(line);
    }
  }

  /** Begins nothing any more, and resolves when what was held is given back, or cannot be in time. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await within(FAREWELL, Promise.all(this.#lines.values()), this.#options.clock);
  }
}
