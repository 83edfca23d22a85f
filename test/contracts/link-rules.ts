/**
 * Behaviour of a link and its broker that agents and worlds rely on. The real link and a world's model must both have
 * it.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { Link, LinkEvents } from '../../agent/ports.ts';
import type { Arrivals } from '../rig/arrivals.ts';
import { message, text } from '../rig/car.ts';

export interface LinkRig {
  readonly link: Link & { open(events: LinkEvents): void };
  /** In order: `got X` for what the car received, `arrived X` for what reached the broker, `up` and `down`. */
  readonly log: Arrivals<string>;
  /** Advances time until the promise settles. */
  wait<T>(settled: Promise<T>): Promise<T>;
  /** Sends a message to the car from another client. */
  send(payload: string): Promise<void>;
  /** Blocks all traffic without notice to either end. */
  hold(): void;
  /** Closes the connection. A new connection is possible. */
  cut(): void;
  /** Restarts the broker. It keeps its queue for the car. */
  restartBroker(): Promise<void>;
  close(): Promise<void>;
}

/** @param open `silence`: whether a half-open connection must be detected soon */
export function linkRules(name: string, open: (options?: { readonly silence: boolean }) => Promise<LinkRig>): void {
  describe(name, () => {
    let rig: LinkRig;
    afterEach(() => rig.close());

    const next = (entry: string): Promise<string> => rig.wait(rig.log.take((one) => one === entry));
    const count = (entry: string): number => rig.log.all.filter((one) => one === entry).length;
    const publish = (payload: string): Promise<void> => rig.link.publish(message(payload));

    async function connect(options?: { readonly silence: boolean }): Promise<void> {
      rig = await open(options);
      expect(rig.link.connected).toBe(false);
      await expect(publish('too early')).rejects.toMatchObject({ code: 'link.lost' });
      const { link, log } = rig;
      link.open({
        up: () => log.push('up'),
        down: () => log.push('down'),
        message: (_topic, payload) => log.push(`got ${text(payload)}`),
      });
      await next('up');
      expect(rig.link.connected).toBe(true);
    }

    test('a publish resolves once the broker has the message exactly once', async () => {
      await connect();
      await rig.wait(Promise.all(['a', 'b', 'c'].map(publish)));
      await rig.wait(publish('last'));
      await next('arrived last');
      expect(rig.log.all.filter((one) => one.startsWith('arrived')).sort()).toEqual(
        ['a', 'b', 'c', 'last'].map((payload) => `arrived ${payload}`),
      );
    });

    test('publishes in flight when the connection ends are rejected, and the new connection repeats nothing', async () => {
      await connect();
      rig.hold();
      const lost = expect(publish('first')).rejects.toMatchObject({ code: 'link.lost' });
      rig.cut();
      await rig.wait(lost);
      await next('down');
      await next('up');
      await rig.wait(publish('second'));
      await next('arrived second');
      expect(count('arrived first')).toBe(0);
    });

    test('a half-open connection is detected and replaced', async () => {
      await connect({ silence: true });
      rig.hold();
      const lost = expect(publish('into the void')).rejects.toMatchObject({ code: 'link.lost' });
      await next('down');
      await rig.wait(lost);
      expect(rig.link.connected).toBe(false);
      await rig.send('lock');
      rig.cut();
      await next('up');
      await next('got lock');
    });

    test('messages sent while the connection was down arrive when it is back', async () => {
      await connect();
      await rig.send('lock');
      await next('got lock');
      rig.hold();
      await rig.send('unlock');
      rig.cut();
      await next('up');
      await next('got unlock');
    });

    test('the link comes back after a restart of the broker', async () => {
      await connect();
      await rig.restartBroker();
      await next('down');
      await next('up');
      await rig.wait(publish('after'));
      await next('arrived after');
      await rig.send('lock');
      await next('got lock');
    });
  });
}
