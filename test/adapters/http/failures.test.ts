import { describe, expect, test } from 'vitest';
import { Failures, TooManyRequests } from '../../../adapters/http/access/failures.ts';
import { PasswordChecks } from '../../../adapters/http/access/password-checks.ts';
import { networkOf, wideNetworkOf } from '../../../protocol/ip-networks.ts';
import { VirtualClock } from '../../rig/clock.ts';

const [NAME, SOURCE] = ['operator', '192.0.2.1'];

/** Seconds that the name must wait now; 0: not at all. */
function waits(failures: Failures, name = NAME, source = SOURCE): number {
  try {
    failures.begin(name, source).ended();
    return 0;
  } catch (error) {
    if (error instanceof TooManyRequests) return error.retryAfter;
    throw error;
  }
}

const fail = (failures: Failures, times: number, name = NAME, source = SOURCE) => {
  for (let attempt = 0; attempt < times; attempt++) failures.begin(name, source).failed();
};

describe('after ten failed logins within a minute a name must wait at its address', () => {
  test('even if the first failure came after a quiet minute', () => {
    const clock = new VirtualClock();
    const failures = new Failures(clock);
    fail(failures, 1);
    clock.advance(59_000);
    fail(failures, 8);
    clock.advance(6_500);
    expect(waits(failures)).toBe(0);
    fail(failures, 2);
    expect(waits(failures)).toBeGreaterThan(50);
  });

  test('and is admitted again after the announced wait', () => {
    const clock = new VirtualClock();
    const failures = new Failures(clock);
    fail(failures, 10);
    const wait = waits(failures);
    expect(wait).toBeGreaterThanOrEqual(60);
    clock.advance(wait * 1_000 - 1_500);
    expect(waits(failures)).toBeGreaterThan(0);
    clock.advance(1_500);
    expect(waits(failures)).toBe(0);
  });

  test('while other names at the address, and the name at other addresses, need not wait', () => {
    const failures = new Failures(new VirtualClock());
    fail(failures, 10);
    expect([waits(failures), waits(failures, 'other'), waits(failures, NAME, '192.0.2.2')]).toEqual([60, 0, 0]);
  });
});

test('failures of any number of names and addresses take bounded memory, and the newest are kept', () => {
  const clock = new VirtualClock();
  const failures = new Failures(clock);
  for (let n = 0; n < 30_000; n++) fail(failures, 1, `name${n}`, `source${n}`);
  fail(failures, 10);
  expect([waits(failures), failures.waitOf('source1'), failures.waitOf('source29999')]).toEqual([60, 0, 60_000]);
  expect(failures.strained).toBe(true);
  clock.advance(60_000);
  expect([failures.strained, failures.waitOf('source29999')]).toEqual([false, 0]);
});

test('the networks of a client and of an operator have one spelling', () => {
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1');
  expect(networkOf('2001:DB8::1')).toBe(networkOf('2001:0db8:0:0:ffff::2'));
  expect(wideNetworkOf('192.0.2.1')).toBe(wideNetworkOf('192.0.2.99'));
  expect(wideNetworkOf('2001:db8:1:7::1')).toBe(wideNetworkOf('2001:db8:1::'));
  expect(wideNetworkOf('2001:db8:2::')).not.toBe(wideNetworkOf('2001:db8:1::'));
});

describe('password checks', () => {
  /** Starts a check that ends when the test says so. */
  function begin(checks: PasswordChecks, network: string, more = { strained: false, preferred: false }) {
    const state = { running: false, refused: false, end: (): void => undefined };
    const done = checks
      .run({ network, ...more }, () => {
        state.running = true;
        return new Promise((resolve) => {
          state.end = () => resolve(true);
        });
      })
      .catch(() => {
        state.refused = true;
        return false;
      });
    return { state, done };
  }

  test('run four at a time, wait in turn, and are refused beyond 64', async () => {
    const checks = new PasswordChecks();
    const all = Array.from({ length: 70 }, (_, n) => begin(checks, `network${n}`));
    await Promise.resolve();
    expect(all.filter(({ state }) => state.running).length).toBe(4);
    const certified = begin(checks, 'certificate', { strained: false, preferred: true });
    all[0]?.state.end();
    await all[0]?.done;
    expect(certified.state.running).toBe(true);
    await Promise.all(all.slice(68).map(({ done }) => done));
    expect(all.filter(({ state }) => state.refused).length).toBe(2);
  });

  test('run one at a time while many logins fail, one for each network', async () => {
    const checks = new PasswordChecks();
    const strained = { strained: true, preferred: false };
    const [first, second] = [begin(checks, 'a', strained), begin(checks, 'b', strained)];
    const again = begin(checks, 'a', strained);
    await again.done;
    expect([first.state.running, second.state.running, again.state.refused]).toEqual([true, false, true]);
    first.state.end();
    await first.done;
    expect(second.state.running).toBe(true);
  });
});
