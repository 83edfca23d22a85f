import type { LinkDetails } from '../agent/health/health.ts';
import type { Link, LinkEvents, Log } from '../agent/ports.ts';
import { reasonOf, VigieError } from '../protocol/errors.ts';

/** Connection of an agent to the cloud, for example `MqttLink`. */
export interface CloudLink extends Link {
  /** Connects, and passes on received messages. Called once, when the agent has started. */
  open(events: LinkEvents): void;
  /** Resolves when everything is closed. */
  close(): Promise<void>;
  /** Number of messages to publish concurrently; default: 1. */
  readonly window?: number;
  /** Bytes sent and received since startup, which show the cost of sleep. */
  readonly bytes?: number;
  /** Returns the state of the link, for a service that reports it. */
  health?(): LinkDetails;
}

/** Returns a function that publishes over the program's own link. Logs the link's errors, repeated ones only once. */
export function publisherOf(link: CloudLink, log: Log): Link['publish'] {
  let logged: string | undefined;
  return async (message) => {
    try {
      await link.publish(message);
      logged = undefined;
    } catch (error) {
      // A link throws a VigieError if it is down or if the other side refuses the message.
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

/** Link of an agent that publishes nothing: its messages stay in the outbox. */
export const noLink: CloudLink = {
  connected: false,
  publish: async () => {
    throw new VigieError('link.lost', 'this agent has no link');
  },
  open: () => undefined,
  close: async () => undefined,
};
