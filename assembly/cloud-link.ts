import type { LinkDetails } from '../agent/health/health.ts';
import type { Link, LinkEvents } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

/** The way to the cloud, as an agent is built around it; `MqttLink` is one. */
export interface CloudLink extends Link {
  /** Connects, and tells what comes; called once, when the agent has started. */
  open(events: LinkEvents): void;
  /** Resolves when nothing of it is open any more. */
  close(): Promise<void>;
  /** Messages worth publishing at the same time; default: one after the other. */
  readonly window?: number;
  /** Bytes to and from the cloud since the start, for what sleep costs. */
  readonly bytes?: number;
  /** How it is, for a service that reports it. */
  health?(): LinkDetails;
}

/** Of an agent that publishes nothing: what it makes waits in its records. */
export const noLink: CloudLink = {
  connected: false,
  publish: async () => {
    throw new VigieError('link.lost', 'this agent has no link');
  },
  open: () => undefined,
  close: async () => undefined,
};
