import type { LinkDetails } from '../agent/health/health.ts';
import type { Link, LinkEvents, Log } from '../agent/ports.ts';
import { VigieError } from '../protocol/errors.ts';

/** The way to the cloud, as an agent is built around it; `MqttLink` is one. */
export interface CloudLink extends Link {
  /** Connects, and reports received messages. Called once, when the agent has started. */
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

/** Publishes over a link of the program's own, and logs what it throws, repeated errors once. */
export function publisherOf(link: CloudLink, log: Log): Link['publish'] {
  let logged: string | undefined;
  return async (message) => {
    try {
      await link.publish(message);
      logged = undefined;
    } catch (error) {
      // A VigieError is how a link reports that it is down or that the other side refuses.
      if (!(error instanceof VigieError)) {
        const text = error instanceof Error ? error.message : String(error);
        if (text !== logged)
          log.error('link.publishFailed', { error: (error instanceof Error && error.stack) || text });
        logged = text;
      }
      throw error;
    }
  };
}

/** For an agent that publishes nothing: its messages stay in its records. */
export const noLink: CloudLink = {
  connected: false,
  publish: async () => {
    throw new VigieError('link.lost', 'this agent has no link');
  },
  open: () => undefined,
  close: async () => undefined,
};
