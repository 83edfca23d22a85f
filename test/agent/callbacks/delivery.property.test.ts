/**
 * Compares the delivery queue with a naive implementation of docs/callbacks.md, on a virtual clock, with receivers that
 * come and go, pauses and restarts.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../rig/runs.ts';
import { CallbackRig, delivered, failed, webhook } from './rig.ts';

const RUNS = runs(200, 600);
/** Time limit, ms. The long form of the test takes minutes. */
const timeout = Math.max(60_000, RUNS * 20);

interface Rules {
  readonly tries: number;
  readonly delay: number;
  readonly batch: number;
  readonly window: number;
}

type Setting = { readonly rules: Rules; readonly subscribe: Record<string, unknown> | 'user' };

const fleetSetting = fc
  .record({
    policy: fc.constantFrom('None', 'Bounded', 'Always'),
    retryNumber: fc.integer({ min: 1, max: 4 }),
    retryDelay: fc.integer({ min: 1, max: 12 }),
    batch: fc.option(fc.record({ size: fc.integer({ min: 1, max: 4 }), timeWindow: fc.integer({ min: 5, max: 15 }) }), {
      nil: undefined,
    }),
  })
  .map(({ policy, retryNumber, retryDelay, batch }): Setting => {
    const tries = policy === 'None' ? 1 : policy === 'Bounded' ? 1 + retryNumber : Number.POSITIVE_INFINITY;
    return {
      rules: { tries, delay: retryDelay, batch: batch?.size ?? 1, window: batch?.timeWindow ?? 0 },
      subscribe: { retryPolicy: { policy, retryNumber, retryDelay }, ...(batch && { batchNotify: batch }) },
    };
  });
const userSetting = fc.constant<Setting>({
  rules: { tries: Number.POSITIVE_INFINITY, delay: 10, batch: 100, window: 0 },
  subscribe: 'user',
});

type Step =
  | { readonly do: 'event' }
  | { readonly do: 'pass'; readonly seconds: number }
  | { readonly do: 'away' | 'back' | 'restart' | 'pause' | 'resume' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ do: 'event' }) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 25 }).map((seconds): Step => ({ do: 'pass', seconds })) },
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: 'away' }, { do: 'back' }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'restart' }, { do: 'pause' }, { do: 'resume' }) },
);

/** One receiver, simulated second by second. */
class Naive {
  readonly tried: string[][] = [];
  readonly #rules: Rules;
  #waiting: { readonly id: string; readonly at: number }[] = [];
  #failures = 0;
  /** Number of the batch that failed. */
  #parcel = 0;
  #next = 0;

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  push(id: string, at: number): void {
    this.#waiting.push({ id, at });
  }

  look(now: number, there: boolean, running: boolean): void {
    const { tries, delay, batch, window } = this.#rules;
    while (running && this.#waiting.length > 0 && this.#next <= now) {
      const [first] = this.#waiting;
      const full = this.#waiting.length >= batch;
      if (this.#parcel === 0 && !full && first !== undefined && now < first.at + window) return;
      const count = this.#parcel || Math.min(batch, this.#waiting.length);
      this.tried.push(this.#waiting.slice(0, count).map(({ id }) => id));
      if (there || this.#failures + 1 >= tries) {
        this.#waiting.splice(0, count);
        this.#parcel = 0;
        this.#failures = 0;
      } else {
        this.#parcel = count;
        this.#failures++;
        this.#next = now + delay;
      }
    }
  }
}

function begin({ subscribe }: Setting): CallbackRig {
  const rig = new CallbackRig();
  if (subscribe === 'user') {
    rig.callbacks.put('user', 'cb', { callback: { webhook } });
    rig.monitor('a1', { subscribeParam: { callbackId: 'cb' } });
  } else rig.monitor('a1', { subscribeParam: { ...subscribe, callback: { webhook } } });
  return rig;
}

test('the same batches are tried at the same times as in the naive implementation', { timeout }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fleetSetting, userSetting), fc.array(step, { maxLength: 40 }), async (setting, steps) => {
      const rig = begin(setting);
      const naive = new Naive(setting.rules);
      let [now, there, running] = [0, true, true];
      rig.answer = () => (there ? delivered : failed);
      const look = async (ms: number): Promise<void> => {
        await rig.pass(ms);
        naive.look(now, there, running);
        expect(rig.webhooks.map(({ ids }) => ids)).toEqual(naive.tried);
      };
      for (const action of steps) {
        switch (action.do) {
          case 'event':
            naive.push(rig.event('a1'), now);
            await look(0);
            break;
          case 'pass':
            for (let second = 0; second < action.seconds; second++) {
              now++;
              await look(1000);
            }
            break;
          case 'restart':
            rig.restart();
            await look(0);
            break;
          case 'pause':
          case 'resume':
            if (setting.subscribe !== 'user') break;
            running = action.do === 'resume';
            rig.callbacks.setStatus('cb', running ? 'Running' : 'Paused');
            await look(0);
            break;
          default:
            there = action.do === 'back';
        }
      }
      expect([...rig.callbacks.waiting.values()][0] ?? 0).toBe(naive.waiting);
    }),
    { numRuns: RUNS },
  );
});

test('power cuts lose nothing that was on disk, and repeated events have the same id', {
  timeout,
}, async () => {
  const moment = fc.integer({ min: 0, max: 6 });
  const piece = fc.record({
    events: fc.integer({ min: 1, max: 4 }),
    there: fc.boolean(),
    until: moment,
    cut: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fleetSetting, userSetting),
      fc.array(piece, { maxLength: 12 }),
      async (setting, pieces) => {
        const rules = { ...setting, subscribe: setting.subscribe };
        if (rules.subscribe !== 'user')
          rules.subscribe = { ...rules.subscribe, retryPolicy: { policy: 'Always', retryDelay: 3 } };
        const rig = begin(rules);
        const taken = new Map<string, string>();
        const order: string[] = [];
        let there = true;
        rig.answer = ({ channel, request }) => {
          if (!there || channel !== 'webhook') return failed;
          const messages = [JSON.parse(request.body)].flat() as { events?: unknown[] }[];
          const contents = messages.flatMap((message) => message.events ?? [message]);
          for (const [index, id] of request.ids.entries()) {
            const content = JSON.stringify(contents[index]);
            if (!taken.has(id)) order.push(id);
            expect(taken.get(id) ?? content).toBe(content);
            taken.set(id, content);
          }
          return delivered;
        };
        const told: string[] = [];
        for (const { events, there: up, until, cut } of pieces) {
          there = up;
          for (let index = 0; index < events; index++) told.push(rig.event('a1'));
          // An event and its queue entry are in one commit, as in the agent.
          rig.memory.commit();
          rig.clock.advance(0);
          // The power fails after this many turns of the event loop.
          for (let turn = 0; turn < until; turn++) await Promise.resolve();
          if (cut) rig.cut();
          await rig.pass(2_000);
        }
        there = true;
        await rig.pass(120_000);
        expect(order).toEqual(told);
        expect([...rig.callbacks.waiting.values()].every((waiting) => waiting === 0)).toBe(true);
      },
    ),
    { numRuns: RUNS },
  );
});
