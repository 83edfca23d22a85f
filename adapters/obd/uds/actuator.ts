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
  /** Requesters by bus of the profile; actions on a bus without a requester are not offered. */
  readonly requesters: ReadonlyMap<string, UdsRequester>;
  readonly clock: Clock;
  readonly log: Log;
  /** Key hooks; default: {@link simpleKeys}. */
  readonly hooks?: KeyHooks;
}

/** Time in ms within which control is returned when the agent stops. Otherwise the control unit ends it itself. */
const FAREWELL = 3_000;

/** Executes commands by diagnostics (ISO 14229-1) at the control units that the profile names. */
export class UdsActuator implements Actuator {
  readonly actions: ReadonlySet<string>;
  readonly #prepared: ReadonlyMap<string, PreparedCommand>;
  readonly #options: UdsActuatorOptions;
  readonly #stopping = new AbortController();
  /** Last queued command by bus and address of the control unit: parallel sessions of a unit would end each other. */
  readonly #lines = new Map<string, Promise<void>>();

  constructor(options: UdsActuatorOptions) {
    const { prepared } = prepareUdsCommands(options.commands, options.hooks ?? simpleKeys);
    this.#options = options;
    this.#prepared = prepared;
    const reached = [...prepared].filter(([, { uds }]) => options.requesters.has(uds.bus));
    this.actions = new Set(reached.map(([action]) => action));
  }

  /** Returns true if the bus of the control unit for this action sleeps. */
  asleep(action: string): boolean {
    const command = this.#prepared.get(action);
    return command !== undefined && this.#options.requesters.get(command.uds.bus)?.asleep === true;
  }

  /**
   * Resolves when the action was executed, held for the time in the profile, and control was returned.
   * @throws VigieError `command.unsupported`, the errors of {@link DiagnosticSession.run} and of `allowed`
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
    // One bus may have two names: one for frames and one for requests.
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

  /** Starts no more commands. Resolves when all control is returned, or the time for that is over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await within(FAREWELL, Promise.all(this.#lines.values()), this.#options.clock);
  }
}
