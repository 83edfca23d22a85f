import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseSignalSet, type SignalSet } from '../../../../adapters/obd/index.ts';
import { routeOf } from '../../../../adapters/obd/isotp/route.ts';
import { addressOf, timeoutOf } from '../../../../adapters/obd/poll/address.ts';
import { defaultPollSettings, planPolls } from '../../../../adapters/obd/poll/index.ts';
import { sampleReader } from '../../../../adapters/obd/poll/readers.ts';
import { splitAnswer } from '../../../../adapters/obd/poll/several.ts';
import { shippedProfiles } from '../../../../config/shipped.ts';
import { ownCars } from '../../../golden/answers.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { raw, setOf } from '../sets.ts';
import { standard } from '../standard.ts';

const want = (signal: string, message = 'OBD') => ({ message, signal });

function planned(sets: Parameters<typeof planPolls>[1], signals: readonly string[], settings = {}) {
  const wanted = signals.map((name) =>
    name.includes(' ') ? want(name.split(' ')[1] ?? '', name.split(' ')[0]) : want(name),
  );
  return planPolls(wanted, sets, { ...defaultPollSettings, ...settings });
}

describe('the poll plan', () => {
  it('has one request for all signals of a command, at the shortest interval', () => {
    const { commands, missing } = planned([standard()], ['EngineSpeed', 'EngineRunning', 'FuelLevel', 'Unknown'], {
      rules: {
        'OBD.EngineRunning': { interval: 300, priority: 'high' },
        'OBD.EngineSpeed': { interval: 900, priority: 'low' },
      },
    });
    expect(
      commands.map(({ command, interval, priority, signals }) => [
        command.parameter,
        interval,
        priority,
        signals.length,
      ]),
    ).toEqual([
      ['0C', 300, 'high', 2],
      ['2F', 10_000, 'normal', 1],
    ]);
    expect(missing).toEqual([want('Unknown')]);
  });

  it("uses the set's period, but at least the minimum interval", () => {
    const set = setOf(
      { cmd: { '22': '0001' }, freq: 0.05, signals: [raw('FAST')] },
      { cmd: { '22': '0002' }, freq: 3, signals: [raw('SLOW')] },
    );
    expect(planned([set], ['FAST', 'SLOW']).commands.map(({ interval }) => interval)).toEqual([250, 3000]);
  });

  it('respects the model year, skips debug commands, and prefers later sets', () => {
    const set = setOf(
      { cmd: { '22': '0001' }, filter: { to: 2018 }, signals: [raw('A')] },
      { cmd: { '22': '0002' }, filter: { from: 2019 }, signals: [raw('A')] },
      { cmd: { '22': '0003' }, dbg: true, signals: [raw('B')] },
      { cmd: { '22': '0004' }, dbgfilter: { from: 2022 }, signals: [raw('C')] },
      { cmd: { '22': '0005' }, signals: [raw('D')] },
    );
    const of = (signal: string, modelYear?: number) =>
      planned([set], [signal], { modelYear }).commands.map(({ command }) => command.parameter);
    expect([of('A', 2015), of('A', 2020), of('A')]).toEqual([['0001'], ['0002'], ['0002']]);
    expect([of('B'), of('220003 B')]).toEqual([[], ['0003']]);
    expect([of('C', 2021), of('C', 2023), of('C')]).toEqual([['0004'], [], ['0004']]);
    const later = setOf({ cmd: { '22': '0006' }, signals: [raw('D')] });
    expect(planned([set, later], ['D']).commands.map(({ command }) => command.parameter)).toEqual(['0006']);
    expect(planned([set, later], ['220005 D']).commands.map(({ command }) => command.parameter)).toEqual(['0005']);
  });

  it('excludes text signals', () => {
    expect(planned([standard('sae-j1979-09.json')], ['Vin']).missing).toHaveLength(1);
  });
});

describe('addresses in a signal set', () => {
  const of = (command: Record<string, unknown>) => {
    const [first] = setOf({ cmd: { '22': '0001' }, ...command }).commands;
    return first === undefined ? undefined : addressOf(first);
  };

  it.each([
    [
      { hdr: '7E0', rax: '7E8' },
      { request: 0x7e0, extended: false, response: 0x7e8 },
    ],
    [{ hdr: '7DF' }, { request: 0x7df, extended: false }],
    [
      { hdr: '750', rax: '758', eax: '2A', tst: '2A' },
      { request: 0x750, extended: false, response: 0x758, target: 0x2a, source: 0x2a },
    ],
    [
      { hdr: '6F1', rax: '612', eax: '12' },
      { request: 0x6f1, extended: false, response: 0x612, target: 0x12 },
    ],
    [
      { hdr: 'DA10', rax: '10' },
      { request: 0x18da10f1, extended: true, response: 0x18daf110 },
    ],
    [
      { hdr: 'DA10', rax: 'F110' },
      { request: 0x18da10f1, extended: true, response: 0x18daf110 },
    ],
    [
      { hdr: 'DA01', rax: '18DAF101', pri: '17', tst: 'F9' },
      { request: 0x17da01f9, extended: true, response: 0x18daf101 },
    ],
    [{ hdr: 'DB33' }, { request: 0x18db33f1, extended: true }],
    [{ hdr: '18DA28F1' }, { request: 0x18da28f1, extended: true }],
    [{ hdr: '686A' }, undefined],
    [{ hdr: '7E0', rax: '7E8', proto: '9141-2' }, undefined],
  ])('%o', (command, expected) => {
    expect(of(command)).toEqual(expected);
  });

  it('determine the flow control identifier of a responder if the set omits it', () => {
    expect(routeOf({ request: 0x7e2, extended: false }).responder(0x7ea, undefined)?.flowControl).toBe(0x7e2);
    expect(routeOf({ request: 0x6b4, extended: false, response: 0x694 }).responder(0x694, undefined)?.flowControl).toBe(
      0x6b4,
    );
    expect(routeOf({ request: 0x18da28f1, extended: true }).responder(0x18daf128, undefined)?.flowControl).toBe(
      0x18da28f1,
    );
    expect(
      routeOf({ request: 0x7e0, extended: false, flowControl: 0x700 }).responder(0x7e8, undefined)?.flowControl,
    ).toBe(0x700);
    expect(routeOf({ request: 0x7df, extended: false }).responder(0x7f0, undefined)).toBeUndefined();
  });

  it('have timeouts in steps of 4 ms', () => {
    const [command] = setOf({ cmd: { '22': '0001' }, tmo: '32' }).commands;
    expect(command === undefined ? undefined : timeoutOf(command)).toBe(200);
  });
});

describe('answers to several parameters', () => {
  it('are split correctly in any order, or refused', () => {
    const lengths = { 4: 1, 12: 2, 13: 1, 36: 4, 66: 2, 166: 4 } as const;
    const pids = Object.keys(lengths).map(Number);
    fc.assert(
      fc.property(
        fc.shuffledSubarray(pids, { minLength: 1 }),
        fc.infiniteStream(fc.nat({ max: 255 })),
        fc.nat({ max: 3 }),
        (order, bytes, cut) => {
          const data = new Map(order.map((pid) => [pid, Uint8Array.from(bytes.take(lengths[pid as 4]))] as const));
          const payload = Uint8Array.of(0x41, ...[...data].flatMap(([pid, part]) => [pid, ...part]));
          expect(splitAnswer(payload, pids)).toEqual(data);
          const short = splitAnswer(payload.subarray(0, payload.length - cut), pids);
          for (const [pid, part] of short ?? []) expect(part).toEqual(data.get(pid));
          expect(splitAnswer(payload, order.slice(1))).toBeUndefined();
        },
      ),
    );
  });
});

describe('the profile for any car', () => {
  const file = join(shippedProfiles, 'generic-obd2', 'profile.yaml');
  const profile = parse(readFileSync(file, 'utf8')) as {
    buses: { obd: { signalsets: string[]; poll: { signals: Record<string, unknown> } } }[];
    status: Record<string, { signal: string; map?: object } | { signal: string; map?: object }[]>;
  };
  const sources = Object.values(profile.status).flat();

  it('maps only signals in its set, and polls only mapped signals', () => {
    // The position comes from the GNSS receiver.
    const asked = sources.filter(({ signal }) => !signal.startsWith('GNSS.'));
    expect(asked.length).toBeLessThan(sources.length);
    const wanted = asked.map(({ signal }) => want(signal.slice(4)));
    expect(
      planned(
        [standard()],
        wanted.map(({ signal }) => signal),
      ).missing,
    ).toEqual([]);
    const rules = Object.keys(profile.buses[0]?.obd.poll.signals ?? {});
    expect(rules.filter((rule) => !sources.some(({ signal }) => signal === rule))).toEqual([]);
  });

  it('maps only raw values that the set names', () => {
    for (const { signal, map } of sources) {
      const own = standard()
        .commands.flatMap(({ signals }) => signals)
        .find(({ id }) => `OBD.${id}` === signal);
      if (map === undefined || own?.format.map === undefined) continue;
      for (const value of Object.keys(map)) expect([...own.format.map.keys()], signal).toContain(value);
    }
  });
});

/** Checks that every command of a set has an address, and that every signal can be read and planned. */
function isPlannedWhole(set: SignalSet): void {
  expect(set.commands.length).toBeGreaterThan(0);
  for (const command of set.commands) {
    expect(addressOf(command), command.id).toBeDefined();
    for (const signal of command.signals) {
      const text = signal.format.unit === 'ascii';
      expect(sampleReader(signal, command) === undefined, signal.id).toBe(text);
      const { missing } = planned([set], [`${command.id} ${signal.id}`]);
      expect(missing, signal.id).toHaveLength(text ? 1 : 0);
      const asText = [{ ...want(signal.id, command.id), text: true as const }];
      const readable = text && signal.format.map === undefined;
      expect(planPolls(asText, [set], defaultPollSettings).missing, signal.id).toHaveLength(readable ? 0 : 1);
    }
  }
}

describe('sets with every feature', () => {
  it.each(ownCars().flatMap(({ sets }) => sets))('$file can be planned and addressed completely', isPlannedWhole);
});

describeShared('sets of real cars', () => {
  it.each(['SAEJ1979', 'Peugeot-208', 'Toyota-RAV4'])('%s can be planned and addressed completely', (repository) => {
    const name = join(sharedData, 'obd', repository, 'signalsets', 'v3', 'default.json');
    const set = parseSignalSet(readFileSync(name, 'utf8'), name);
    if (set.commands.length > 0) isPlannedWhole(set);
  });
});
