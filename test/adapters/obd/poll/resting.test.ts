import { describe, expect, it } from 'vitest';
import { pauseAsleep, VoltageWatch } from '../../../../adapters/obd/poll/index.ts';
import { UnitRest } from '../../../../agent/power/rest.ts';
import { VirtualClock } from '../../../rig/clock.ts';

function rig() {
  const clock = new VirtualClock();
  const rest = new UnitRest();
  const told: string[] = [];
  const polls = { pause: () => void told.push('pause'), resume: () => void told.push('resume') };
  return { clock, rest, told, polls };
}

/** A unit with only an OBD adapter. If `volts` is undefined, the adapter cannot measure. */
function watched(volts: number | undefined, asleep = false) {
  const parts = rig();
  const { clock, rest, polls } = parts;
  const battery: { volts: number | undefined; asked: number } = { volts, asked: 0 };
  rest.set(asleep);
  const voltage = async (): Promise<number> => {
    battery.asked++;
    if (battery.volts === undefined) throw new Error('it does not measure');
    return battery.volts;
  };
  return { ...parts, battery, watch: new VoltageWatch({ polls, rest, clock, voltage }) };
}

describe('polls beside a monitored bus', () => {
  it('pause while the unit sleeps, also from the start, and no longer after release', () => {
    const { rest, told, polls } = rig();
    rest.set(true);
    const release = pauseAsleep(polls, rest);
    expect(told).toEqual(['pause']);
    rest.set(false);
    rest.set(true);
    expect(told).toEqual(['pause', 'resume', 'pause']);
    release();
    rest.set(false);
    expect(told).toHaveLength(3);
  });
});

describe('a unit with only an OBD adapter', () => {
  it('sends no request while it sleeps and the voltage is constant or falls', async () => {
    const { clock, rest, told, battery } = watched(12.6);
    rest.set(true);
    for (let minute = 0; minute < 60; minute++) {
      if (battery.volts !== undefined) battery.volts -= 0.005;
      await clock.settle(60_000, 10_000);
    }
    expect(told).toEqual(['pause']);
    expect(battery.asked).toBe(60);
  });

  it('polls the car when the voltage rises, stops without an answer, and waits for a further rise', async () => {
    const { clock, rest, told, battery } = watched(12.4, true);
    await clock.settle(180_000, 10_000);
    battery.volts = 13.4;
    await clock.settle(70_000, 10_000);
    expect(told).toEqual(['pause', 'resume']);
    await clock.settle(20_000, 10_000);
    expect(told).toEqual(['pause', 'resume', 'pause']);
    await clock.settle(3_600_000, 60_000);
    expect(told).toHaveLength(3);
    battery.volts = 14.2;
    await clock.settle(70_000, 10_000);
    expect(told.at(-1)).toBe('resume');
    // The car answered: the unit wakes, and polling continues.
    rest.set(false);
    await clock.settle(600_000, 60_000);
    expect(told.at(-1)).toBe('resume');
    expect(clock.pending).toBe(0);
  });

  it('polls briefly every ten minutes if the adapter cannot measure', async () => {
    const { clock, rest, told } = watched(undefined);
    rest.set(true);
    await clock.settle(600_000, 10_000);
    expect(told).toEqual(['pause']);
    await clock.settle(3_600_000, 10_000);
    const trials = told.filter((word) => word === 'resume').length;
    expect(trials).toBeGreaterThan(3);
    expect(trials).toBeLessThan(7);
  });

  it('does nothing after it was stopped, even if the adapter answers late', async () => {
    const { clock, rest, told, watch } = watched(12.6);
    rest.set(true);
    clock.advance(60_000);
    watch.stop();
    await clock.settle(120_000, 10_000);
    rest.set(false);
    expect(told).toEqual(['pause']);
    expect(clock.pending).toBe(0);
  });
});
