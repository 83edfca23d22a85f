/** The link leaves a broker that answers pings but acknowledges nothing, and stays with one that is only slow. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Acknowledgements } from '../../../adapters/mqtt/acknowledgements.ts';
import type { MqttLinkOptions } from '../../../adapters/mqtt/index.ts';
import { Car, message } from '../../rig/car.ts';
import { VirtualClock } from '../../rig/clock.ts';
import { type Answer, obliging, ScriptedBroker } from '../../rig/script.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function carAt(answers: readonly [Answer, ...Answer[]], options: Partial<MqttLinkOptions> = {}): Promise<Car> {
  const brokers = await Promise.all(answers.map((answer) => ScriptedBroker.open(answer)));
  const urls = brokers.map(({ url }) => url);
  const car = new Car(urls, { protocol: 4, closeTimeout: 200, connectTimeout: 300, ...options });
  closers.push(() => car.link.close(), ...brokers.map((broker) => () => broker.close()));
  return car;
}

/** Answers like `obliging`, except to packets of one type until `until` returns true; `asked` counts pings. */
function mute(type: number, until: () => boolean): { readonly answer: Answer; readonly asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    answer: (packet, socket) => {
      if ((packet[0] ?? 0) >> 4 === 12) asked++;
      return (packet[0] ?? 0) >> 4 === type && !until() ? undefined : obliging(packet, socket);
    },
  };
}

describe('a broker that answers pings', () => {
  it('but acknowledges no message is left; waiting messages are rejected, and can be sent on the next connection', async () => {
    let mended = false;
    let silent = 0;
    const car = await carAt([
      (packet, socket) => {
        // The presence message is acknowledged, so that the link comes up.
        const event = (packet[0] ?? 0) >> 4 === 3 && packet.includes('/up/event');
        if (event && !mended) silent++;
        return event && !mended ? undefined : obliging(packet, socket);
      },
    ]);
    await car.start();
    const waiting = Promise.allSettled([1, 2, 3].map((n) => car.link.publish(message(`event ${n}`))));
    expect(await car.down()).toContain('acknowledged nothing');
    mended = true;
    for (const outcome of await waiting) expect(outcome).toMatchObject({ reason: { code: 'link.lost' } });
    await car.up();
    await car.link.publish(message('event 1'));
    expect(silent).toBe(3);
    expect(car.link.health().counts).toMatchObject({ overdue: 1, losses: 1, rejected: 3 });
  });

  it('but never acknowledges the subscription is left for the next', async () => {
    const first = mute(8, () => false);
    const car = await carAt([first.answer, obliging]);
    await car.start();
    expect(first.asked()).toBe(1);
    expect(car.link.health().counts).toMatchObject({ overdue: 1, ups: 1 });
  });

  it('and acknowledges in time gets no pings from the link', async () => {
    const broker = mute(0, () => true);
    const car = await carAt([broker.answer], { connectTimeout: 20_000 });
    await car.start();
    for (let n = 0; n < 50; n++) await car.link.publish(message(`event ${n}`));
    expect([broker.asked(), car.link.health().counts.overdue]).toEqual([0, 0]);
  });
});

describe('acknowledgements', () => {
  const PATIENCE = 20_000;

  function rig() {
    const clock = new VirtualClock();
    const told: string[] = [];
    const parts = { clock, patience: PATIENCE, ask: () => told.push('asked'), overdue: () => told.push('overdue') };
    return { clock, told, acknowledgements: new Acknowledgements(parts) };
  }

  it('are not overdue while the broker answers no ping, because the network may be down', () => {
    const { clock, told, acknowledgements } = rig();
    acknowledgements.expect({});
    clock.advance(PATIENCE * 100);
    expect(told).toEqual(['asked']);
  });

  it('are overdue some time after the broker is known to have the packet', () => {
    const { clock, told, acknowledgements } = rig();
    acknowledgements.expect({});
    clock.advance(PATIENCE + 60_000);
    acknowledgements.answered();
    clock.advance(PATIENCE - 1);
    expect(told).toEqual(['asked']);
    clock.advance(1);
    expect(told).toEqual(['asked', 'overdue']);
  });

  it('need no timer once they have arrived', () => {
    const { clock, acknowledgements } = rig();
    const packets = [{}, {}];
    for (const packet of packets) acknowledgements.expect(packet);
    for (const packet of packets) acknowledgements.came(packet);
    expect(clock.pending).toBe(0);
  });

  it('are overdue exactly when the broker has had the packet for the time limit', () => {
    const step = fc.oneof(
      fc.record({ pass: fc.integer({ min: 1, max: 30_000 }) }),
      fc.constantFrom('send' as const, 'acknowledge' as const, 'answer' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = new VirtualClock();
        const sent: { readonly since: number }[] = [];
        let question: number | undefined;
        let overdue = false;
        const acknowledgements = new Acknowledgements({
          clock,
          patience: PATIENCE,
          ask: () => {
            expect(question, 'one question at a time').toBeUndefined();
            question = clock.monotonic();
          },
          overdue: () => {
            overdue = true;
          },
        });
        // Time since which the broker is known to have all packets sent until `arrived`.
        let known = { arrived: Number.NEGATIVE_INFINITY, since: 0 };
        for (const next of steps) {
          const now = clock.monotonic();
          if (next === 'send') {
            const packet = { since: now };
            sent.push(packet);
            acknowledgements.expect(packet);
          } else if (next === 'acknowledge') {
            const packet = sent.shift();
            if (packet !== undefined) acknowledgements.came(packet);
          } else if (next === 'answer') {
            expect(acknowledgements.answered()).toBe(question !== undefined);
            if (question !== undefined) known = { arrived: question, since: now };
            question = undefined;
          } else clock.advance(next.pass);
          const [oldest] = sent;
          const age = oldest === undefined ? 0 : clock.monotonic() - oldest.since;
          const held = oldest !== undefined && oldest.since <= known.arrived ? clock.monotonic() - known.since : 0;
          if (overdue) {
            expect(Math.min(age, held)).toBeGreaterThanOrEqual(PATIENCE);
            return;
          }
          expect(held).toBeLessThan(PATIENCE);
          // A packet that has waited for this long needs a ping, unless an answer came meanwhile.
          if (Math.min(age, clock.monotonic() - known.since) >= PATIENCE) expect(question).toBeDefined();
        }
      }),
    );
  });
});
