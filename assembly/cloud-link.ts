import type { LinkDetails } from '../agent/health/health.ts';
import type { Link, LinkEvents, Log } from '../agent/ports.ts';
import { reasonOf, VigieError } from '../protocol/errors.ts';

/** Connection of an agent to the cloud, for example `MqttLink`. */
export interface CloudLink extends Link {
  /** Connects, and reports received messages. Called once, when the agent has started. */
  open(events: LinkEvents): void;
  /** Resolves when the link has closed everything. */
  close(): Promise<void>;
  /** Number of messages to publish concurrently; default: one after the other. */
  readonly window?: number;
  /** Bytes sent and received since startup, to report the cost of sleep. */
  readonly bytes?: number;
  /** Returns the state of the link, for a service that reports it. */
  health?(): LinkDetails;
}

/** Returns a function that publishes over the program's own link and logs its errors, repeated ones once. */
export function publisherOf(link: CloudLink, log: Log): Link['publish'] {
  let logged: string | undefined;
  return async (message) => {
    try {
      await link.publish(message);
      logged = undefined;
    } catch (error) {
      // A link throws a VigieError if it is down or the other side refuses.
      if (!(error instanceof VigieError)) {
        const text = reasonOf(error);
        if (text !== logged)
          log.error('link.publishFailed', { error: (error instanceof Error && error.stack) || text });
        logged = text;
      }
      throw error;
    }
  };
}

/** Link of an agent that publishes nothing: its messages stay in its records. */
export const noLink: CloudLink = {
  connected: false,
  publish: async () => {
    throw new VigieError('link.lost', 'this agent has no link');
  },
  open: () => undefined,
  close: async () => undefined,
};
