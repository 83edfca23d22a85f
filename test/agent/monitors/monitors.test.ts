import { describe, expect, test } from 'vitest';
import { MemoryRecords } from '../../../adapters/store/index.ts';
import { Status } from '../../../agent/model/status.ts';
import { Monitors } from '../../../agent/monitors/monitors.ts';
import { Records } from '../../../agent/records.ts';
import type { MonitorEvent } from '../../../protocol/schema/event.ts';
import { type Slot, slotByPath } from '../../../protocol/slots.ts';
import { KeptMemory } from '../../rig/keeping.ts';
import { MonitorRig } from './rig.ts';
import { fast, rule, SECOND, T, told } from './rules.ts';

describe('monitors', () => {
  test('a monitor fires once when it becomes true, refreshes while it stays true, and fires again after it was false', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast], 'fast', { subscribeParam: { refreshEvent: 60 } }), T);
    rig.give('kinetic.speed', 120, T);
    rig.give('kinetic.speed', 131, T + 1 * SECOND);
    rig.give('kinetic.speed', 140, T + 2 * SECOND);
    for (let s = 3; s <= 130; s++) rig.tick(T + s * SECOND);
    rig.give('kinetic.speed', 130, T + 131 * SECOND);
    rig.give('kinetic.speed', 135, T + 132 * SECOND);
    expect(told(rig)).toEqual(['1 fast', '61r fast', '121r fast', '132 fast']);
    expect(rig.events.map(({ values }) => values?.[0]?.literal)).toEqual(['131', '140', '140', '135']);
    expect(new Set(rig.events.map(({ id }) => id)).size).toBe(4);
  });

  test('a monitor added while others watch the same number has its own threshold', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast]), T);
    rig.give('kinetic.speed', 50, T);
    rig.give('kinetic.speed', 51, T + SECOND);
    rig.put('n', rule([{ name: 'slow', data: { ...fast.data, value: ['60'] } }]), T + SECOND);
    rig.give('kinetic.speed', 61, T + 2 * SECOND);
    expect(told(rig)).toEqual(['2 slow']);
  });

  test('a monitor with hysteresis is not true again before the value has moved back far enough', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([{ ...fast, data: { ...fast.data, hysteresis: 5 } }]), T);
    for (const [s, speed] of [131, 128, 131, 125.01, 131, 125, 131].entries())
      rig.give('kinetic.speed', speed, T + s * SECOND);
    expect(told(rig)).toEqual(['0 fast', '6 fast']);
  });

  test('a monitor with holdFor waits, and an interruption restarts the wait', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([{ ...fast, holdFor: 5 }]), T);
    rig.give('kinetic.speed', 131, T);
    rig.tick(T + 4900);
    rig.give('kinetic.speed', 100, T + 4950);
    rig.give('kinetic.speed', 131, T + 5000);
    rig.tick(T + 9900);
    expect(told(rig)).toEqual([]);
    // The wait had ended when the value changed, although no tick came in between.
    rig.give('kinetic.speed', 90, T + 10_100);
    expect(told(rig)).toEqual(['10.1 fast']);
    expect(rig.events[0]?.values).toEqual([{ data: 'vehicle.kinetic.speed', literal: '131' }]);
  });

  test('a monitor with previous fires only if the value changed from there', () => {
    const rig = new MonitorRig();
    const charging = 'energies.Electric.extension.electric.charging.status';
    const trigger = {
      name: 'c',
      data: {
        data: 'vehicle.energy.charging.status',
        op: 'equalsTo',
        value: ['InProgress'],
        previous: { op: 'includedIn', value: ['Disconnected', 'Stopped'] },
      },
    };
    rig.put('m', rule([trigger]), T);
    for (const [s, state] of ['InProgress', 'Failure', 'InProgress', 'Stopped', 'InProgress'].entries()) {
      rig.give(charging, state, T + s * SECOND);
    }
    expect(told(rig)).toEqual(['4 c']);
    expect(rig.events[0]?.values?.[0]).toMatchObject({ literal: 'InProgress', previous: 'Stopped' });
  });

  test('a monitor is silent while its data is unknown, and does not fire twice because of that', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast], 'fast', { subscribeParam: { refreshEvent: 60 } }), T);
    rig.put('n', rule([fast], '!fast'), T);
    expect(rig.events).toEqual([]);
    rig.give('kinetic.speed', 140, T);
    rig.give('privacy.state', 'Full', T + 10 * SECOND);
    rig.tick(T + 70 * SECOND);
    rig.give('privacy.state', 'None', T + 80 * SECOND);
    rig.give('kinetic.speed', 150, T + 81 * SECOND);
    expect(told(rig)).toEqual(['0 fast']);
    rig.tick(T + 130 * SECOND);
    expect(told(rig)).toEqual(['0 fast', '130r fast']);
  });

  test('a paused monitor ignores changes, and starts afresh when it is resumed', () => {
    const rig = new MonitorRig();
    const opening = { name: 'door', data: { data: 'vehicle.doorsState.opening', op: 'onChange' } };
    const driver = 'doorsState.opening.Driver.state';
    rig.put('m', rule([opening]), T);
    rig.put('n', rule([fast]), T);
    rig.give(driver, 'Closed', T);
    rig.give('kinetic.speed', 140, T);
    rig.set('m', 'Paused', T + SECOND);
    rig.set('n', 'Paused', T + SECOND);
    rig.give(driver, 'Open', T + 2 * SECOND);
    rig.set('m', 'Running', T + 3 * SECOND);
    rig.set('n', 'Running', T + 3 * SECOND);
    rig.give(driver, 'Closed', T + 4 * SECOND);
    expect(told(rig)).toEqual(['0 fast', '3 fast', '4 door']);
    expect(rig.events[2]?.values).toEqual([{ data: 'vehicle.doorsState.opening', literal: 'Closed' }]);
  });

  test('a monitor added again unchanged continues, and with other triggers it starts afresh', () => {
    const rig = new MonitorRig();
    const same = rule([fast]);
    rig.put('m', same, T);
    rig.give('kinetic.speed', 140, T);
    const { version } = rig.monitors;
    rig.put('m', same, T + SECOND);
    expect(rig.monitors.version).toBe(version);
    rig.put('m', { ...same, label: 'renamed' }, T + 2 * SECOND);
    expect(rig.monitors.version).toBe(version + 1);
    expect(rig.monitors.get('m')).toMatchObject({ createdAt: T, updatedAt: T + 2 * SECOND, status: 'Running' });
    expect(told(rig)).toEqual(['0 fast']);
    rig.put('m', rule([{ ...fast, name: 'quick' }]), T + 3 * SECOND);
    expect(told(rig)).toEqual(['0 fast', '3 quick']);
  });

  test('a monitor of several parts does not use values from before privacy as previous values', () => {
    const rig = new MonitorRig();
    const [driver, passenger] = ['safety.beltStatus.Driver.belt', 'doorsState.opening.Driver.state'];
    const previous = { op: 'equalsTo', value: ['Closed'] };
    rig.put('m', rule([{ name: 'd', data: { data: 'vehicle.doorsState.opening', op: 'onChange', previous } }]), T);
    rig.give(driver, 'Normal', T);
    rig.give(passenger, 'Closed', T);
    rig.give('privacy.state', 'Full', T + 10);
    rig.give('privacy.state', 'None', T + 20);
    rig.give(passenger, 'Open', T + 30);
    rig.give('doorsState.opening.Trunk.state', 'Closed', T + 35);
    rig.give('doorsState.opening.Trunk.state', 'Open', T + 40);
    expect(rig.events).toEqual([]);
    rig.give('doorsState.opening.Trunk.state', 'Closed', T + 50);
    rig.give(passenger, 'Closed', T + 60);
    rig.give(passenger, 'Open', T + 70);
    expect(told(rig)).toEqual(['0.07 d']);
  });

  test('a collision fires one event, even if the power was cut in between', () => {
    const rig = new MonitorRig();
    const side = { name: 's', data: { data: 'vehicle.collision.side', op: 'equalsTo', value: ['Front'] } };
    const severity = { name: 'v', data: { data: 'vehicle.collision.severity', op: 'includedIn', value: ['Major'] } };
    rig.put('side', rule([side]), T);
    rig.put('both', rule([side, severity]), T);
    const collision = { createdAt: T, id: 'a-1' };
    rig.record('collision', { ...collision, details: [{ side: 'Front' }] });
    rig.restart(T);
    rig.record('collision', { ...collision, details: [{ side: 'Front', severity: 'Major' }] });
    rig.restart(T);
    rig.record('collision', { ...collision, details: [{ side: 'Front', severity: 'Major' }, { side: 'Rear' }] });
    expect(rig.events.map(({ monitorId }) => monitorId)).toEqual(['side', 'both']);
    rig.record('collision', { createdAt: T, id: 'a-2', details: [{ side: 'Front' }] });
    expect(rig.events.map(({ monitorId }) => monitorId)).toEqual(['side', 'both', 'side']);
    expect(rig.events[1]?.values?.[0]?.collision?.details).toEqual([{ side: 'Front', severity: 'Major' }]);
  });

  test('a monitor of several values fires when all parts of them have arrived', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([{ name: 'low', data: { data: 'vehicle.autonomy', op: 'lowerThan', value: ['60'] } }]), T);
    rig.give('energies.Fuel.autonomy', 50, T);
    rig.give('energies.Electric.autonomy', 200, T + 10);
    rig.tick(T + SECOND);
    rig.give('privacy.state', 'Full', T + 2 * SECOND);
    rig.tick(T + 3 * SECOND);
    expect(rig.events).toEqual([]);
  });
});

describe('list of monitors', () => {
  test('the monitor list is bounded, versioned and ordered', () => {
    const rig = new MonitorRig();
    for (let i = 0; i < 2_000; i++) rig.monitors.put(`m${i}`, rule([fast]), T);
    expect(() => rig.monitors.put('more', rule([fast]), T)).toThrow(/2000 monitors already/);
    expect(() => rig.monitors.put('m/1', rule([fast]), T)).toThrow(/monitorId/);
    rig.monitors.put('m0', rule([{ ...fast, name: 'x' }]), T);
    rig.monitors.setStatus('m1', 'Paused', T);
    expect(rig.monitors.remove('m2')).toBe(true);
    expect(rig.monitors.remove('m2')).toBe(false);
    expect(() => rig.monitors.setStatus('m2', 'Paused', T)).toThrow(/no monitor m2/);
    rig.restart(T);
    expect([...rig.monitors.states()]).toEqual([]);
    expect(rig.monitors.version).toBe(2_003);
    expect(rig.monitors.list.monitors.slice(0, 3)).toEqual([
      { monitorId: 'm0', status: 'Running', updatedAt: T },
      { monitorId: 'm1', status: 'Paused', updatedAt: T },
      { monitorId: 'm3', status: 'Running', updatedAt: T },
    ]);
    rig.give('kinetic.speed', 140, T);
    expect(rig.events.map(({ monitorId }) => monitorId).slice(0, 3)).toEqual(['m0', 'm3', 'm4']);
    expect(rig.events).toHaveLength(1_998);
  });

  test('only changed monitors are stored', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast]), T);
    rig.put('n', rule([{ ...fast, data: { ...fast.data, value: ['50'] } }]), T);
    const keys = (): string[] => [...rig.monitors.states()].map(([key]) => key);
    expect(keys()).toEqual(['monitors', 'monitor/m', 'monitor/n', 'monitor/m/now', 'monitor/n/now']);
    rig.give('kinetic.speed', 20, T);
    expect(keys()).toEqual(['monitor/m/now', 'monitor/n/now']);
    rig.give('kinetic.speed', 30, T + SECOND);
    rig.give('environment.air.temp', 30, T + SECOND);
    expect(keys()).toEqual([]);
    rig.give('kinetic.speed', 60, T + 2 * SECOND);
    expect(keys()).toEqual(['monitors', 'monitor/n/now']);
    rig.remove('n');
    expect(Object.fromEntries(rig.monitors.states())).toMatchObject({
      'monitor/n': undefined,
      'monitor/n/now': undefined,
    });
  });

  test('a damaged stored monitor is logged, and the others keep working', () => {
    const rig = new MonitorRig();
    rig.put('m', rule([fast]), T);
    rig.put('n', rule([fast]), T);
    rig.put('o', rule([fast]), T);
    rig.give('kinetic.speed', 140, T);
    rig.memory.commit();
    rig.memory.kept.set('monitor/m/now', { triggers: 'none' });
    rig.memory.kept.set('monitor/n', { order: 1, monitor: { monitorId: 'n', monitor: {} } });
    rig.memory.kept.set('monitors/records', 5);
    rig.restart(T);
    expect(rig.faults.map((fault) => /"key":"([^"]*)"/.exec(fault)?.[1])).toEqual([
      'monitors/records',
      'monitor/m/now',
      'monitor/n',
    ]);
    expect(rig.monitors.all.map(({ monitorId }) => monitorId)).toEqual(['m', 'o']);
    // This monitor starts afresh, because its earlier state is unknown.
    expect(rig.events.slice(3).map(({ monitorId }) => monitorId)).toEqual(['m']);
  });
});

describe('power cuts', () => {
  test('a power cut at any time neither loses nor repeats an event, because state and events share a commit', () => {
    const slot = slotByPath.get('kinetic.speed') as Slot;
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const drive = [100, 140, 90, 150, 160, 20, 131, 129, 200];
    /** Cuts the power before step `cut`, after the commits of the steps in `commits`. */
    function run(cut: number, commits: (step: number) => boolean): string[] {
      let durable: string[] = [];
      const memory = new KeptMemory();
      let waiting: string[] = [];
      const start = (): { status: Status; monitors: Monitors } => {
        const status = new Status();
        const monitors = new Monitors({
          status,
          trips: { present: () => undefined },
          log: silent,
          emit: ({ id }) => waiting.push(id.split('-')[1] ?? ''),
        });
        status.observe(monitors);
        memory.keep(function* () {
          yield ['speed', status.value(slot)];
          yield* monitors.states();
        });
        return { status, monitors };
      };
      let car = start();
      car.monitors.put('m', rule([fast]), T);
      memory.commit();
      let done = 0;
      for (let step = 0; step < drive.length; step++) {
        if (step === cut) {
          waiting = [];
          car = start();
          const speed = memory.recall('speed');
          if (typeof speed === 'number') car.status.restore({ kinetic: { createdAt: T, speed } });
          car.monitors.recall(memory, T);
          // The drive since the last commit is repeated.
          step = done;
          cut = -1;
        }
        car.status.write(slot, drive[step] as number, T + step * SECOND);
        if (!commits(step)) continue;
        memory.commit();
        durable = [...durable, ...waiting];
        waiting = [];
        done = step + 1;
      }
      return [...durable, ...waiting];
    }
    for (let cut = 0; cut <= drive.length; cut++) {
      for (const every of [1, 2, 3, 4]) expect(run(cut, (step) => step % every === 0)).toEqual(['1', '2', '3', '4']);
    }
  });
});

describe('corrected records', () => {
  test('records stored again with corrected times do not fire a monitor', () => {
    const events: MonitorEvent[] = [];
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const records = new Records({ put: () => undefined, secure: async () => undefined }, new MemoryRecords(), silent);
    const monitors = new Monitors({
      status: new Status(),
      trips: { present: () => undefined },
      log: silent,
      emit: (event) => events.push(event),
    });
    records.observe(monitors);
    records.trustClock(false);
    const start = { name: 's', data: { data: 'vehicle.trip.start', op: 'onChange' } };
    const stop = { name: 'e', data: { data: 'vehicle.trip.stop', op: 'onChange' } };
    const alert = { name: 'a', data: { data: 'vehicle.alert', op: 'onChange' } };
    for (const trigger of [start, stop, alert]) monitors.put(trigger.name, rule([trigger]), 1000);
    records.put('trip', { createdAt: 1000, id: 'a-1', done: false });
    records.put('alert', { createdAt: 1500, id: 'a-2', active: true, type: 'EngineFault', startedAt: 1500 });
    records.put('trip', { createdAt: 1000, id: 'a-1', updatedAt: 2000, done: true });
    monitors.correct(T);
    records.correct(T);
    expect(
      events.map(({ monitorId, values }) => [monitorId, values?.[0]?.literal ?? values?.[0]?.alerts?.length]),
    ).toEqual([
      ['s', 'a-1'],
      ['a', 1],
      ['e', 'a-1'],
    ]);
  });
});
