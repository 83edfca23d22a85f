import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile } from '../../../protocol/cbor/codec.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { dataNameOf, dataNames, dataRules } from '../../../protocol/schema/monitor/data.ts';
import { columns, FALSE, judge, TRUE, truthTable, UNKNOWN } from '../../../protocol/schema/monitor/expression.ts';
import { extensionOf, telemetrySections } from '../../../protocol/schema/monitor/extensions.ts';
import { compileMonitor, type Monitor, monitorListSchema, monitorSchema } from '../../../protocol/schema/monitor.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { parameter } from '../../agent/monitors/histories.ts';
import { reduce } from '../../agent/monitors/reference-world.ts';
import { publishedEnumerations } from './reference.ts';

const moving = { name: 'm', data: { data: 'vehicle.kinetic.moving', op: 'equalsTo', value: ['true'] } };

function monitor(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { label: 'l', triggerParam: { triggers: [moving], boolExp: 'm' }, ...change };
}

const triggers = (...list: unknown[]): Record<string, unknown> =>
  monitor({ triggerParam: { triggers: list, boolExp: (list[0] as { name: string }).name } });
const withData = (data: Record<string, unknown>, rest: Record<string, unknown> = {}): Record<string, unknown> =>
  triggers({ name: 'd', data, ...rest });
const withTime = (entry: Record<string, unknown>, time: Record<string, unknown> = {}): Record<string, unknown> =>
  triggers({ name: 't', time: { times: [entry], ...time } });
const withZone = (zone: Record<string, unknown>): Record<string, unknown> => triggers({ name: 'z', zone });
const center = { longitude: 2.35, latitude: 48.85 };
const daily = { start: 'PT22H', duration: 'PT8H' };

function refusal(input: unknown): VigieError {
  try {
    compileMonitor(input);
  } catch (error) {
    if (error instanceof VigieError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('a monitor is refused', () => {
  test.each<[name: string, input: unknown, where: string | undefined, rule: RegExp]>([
    ['no object', 'monitor', undefined, /must be an object/],
    ['without label', monitor({ label: undefined }), 'label', /missing/],
    ['a label that no message can carry', monitor({ label: 'a\ud800' }), 'label', /surrogates/],
    ['label of another type', monitor({ label: 7 }), 'label', /must be a string/],
    ['without triggers', monitor({ triggerParam: { triggers: [], boolExp: 'a' } }), 'triggerParam.triggers', /1 to 5/],
    [
      'six triggers',
      triggers(...Array.from({ length: 6 }, (_, i) => ({ ...moving, name: `m${i}` }))),
      'triggerParam.triggers',
      /1 to 5 entries, has 6/,
    ],
    ['two of one name', triggers(moving, moving), 'triggerParam.triggers[1].name', /unique/],
    ['a name with a blank', triggers({ ...moving, name: 'a b' }), 'triggerParam.triggers[0].name', /letters/],
    ['a name with two separators', triggers({ ...moving, name: 'a._1' }), 'triggerParam.triggers[0].name', /letters/],
    ['a name of digits', triggers({ ...moving, name: '1' }), 'triggerParam.triggers[0].name', /letters/],
    ['neither zone, time nor data', triggers({ name: 'a' }), 'triggerParam.triggers[0]', /exactly one.*none/],
    ['zone and data', triggers({ ...moving, zone: {} }), 'triggerParam.triggers[0]', /zone and data/],
    [
      'unknown data',
      withData({ data: 'vehicle.doors', op: 'onChange' }),
      'triggerParam.triggers[0].data.data',
      /no data/,
    ],
    [
      'unknown operator',
      withData({ data: 'privacy.state', op: 'is' }),
      'triggerParam.triggers[0].data.op',
      /one of equalsTo/,
    ],
    [
      'an operator that the data does not allow',
      withData({ data: 'privacy.state', op: 'lowerThan', value: ['1'] }),
      'triggerParam.triggers[0].data.op',
      /onChange, equalsTo, includedIn/,
    ],
    [
      'onChange with a value',
      withData({ data: 'privacy.state', op: 'onChange', value: ['Full'] }),
      'triggerParam.triggers[0].data.value',
      /absent or empty/,
    ],
    [
      'equalsTo without a value',
      withData({ data: 'privacy.state', op: 'equalsTo' }),
      'triggerParam.triggers[0].data.value',
      /exactly one/,
    ],
    [
      'includedIn without a value',
      withData({ data: 'privacy.state', op: 'includedIn', value: [] }),
      'triggerParam.triggers[0].data.value',
      /at least one/,
    ],
    [
      'no number',
      withData({ data: 'vehicle.odometer', op: 'greaterThan', value: ['far'] }),
      'triggerParam.triggers[0].data.value[0]',
      /must be a number/,
    ],
    [
      'an invalid number',
      withData({ data: 'vehicle.odometer', op: 'greaterThan', value: ['Infinity'] }),
      'triggerParam.triggers[0].data.value[0]',
      /must be a number/,
    ],
    [
      'an unknown value',
      withData({ data: 'privacy.state', op: 'equalsTo', value: ['Half'] }),
      'triggerParam.triggers[0].data.value[0]',
      /None, Geolocation, Full/,
    ],
    [
      'value of another type',
      withData({ data: 'vehicle.odometer', op: 'greaterThan', value: [5] }),
      'triggerParam.triggers[0].data.value[0]',
      /must be a string/,
    ],
    [
      'previous of a trip',
      withData({ data: 'vehicle.trip.start', op: 'onChange', previous: { op: 'equalsTo', value: ['a'] } }),
      'triggerParam.triggers[0].data.previous',
      /no previous value/,
    ],
    [
      'previous operator',
      withData({ data: 'privacy.state', op: 'onChange', previous: { op: 'lowerThan', value: ['None'] } }),
      'triggerParam.triggers[0].data.previous.op',
      /equalsTo, includedIn/,
    ],
    [
      'hysteresis of names',
      withData({ data: 'privacy.state', op: 'equalsTo', value: ['Full'], hysteresis: 1 }),
      'triggerParam.triggers[0].data.hysteresis',
      /number/,
    ],
    [
      'negative hysteresis',
      withData({ data: 'vehicle.odometer', op: 'equalsTo', value: ['1'], hysteresis: -1 }),
      'triggerParam.triggers[0].data.hysteresis',
      /must be 0/,
    ],
    [
      'holdFor of an occurrence',
      withData({ data: 'privacy.state', op: 'onChange' }, { holdFor: 5 }),
      'triggerParam.triggers[0].holdFor',
      /an occurrence has no duration/,
    ],
    [
      'holdFor of nothing',
      triggers({ ...moving, holdFor: 0 }),
      'triggerParam.triggers[0].holdFor',
      /must be 1 to 86400/,
    ],
    ['zone without place', withZone({ transition: 'In' }), 'triggerParam.triggers[0].zone.place', /missing/],
    [
      'radius in metres',
      withZone({ transition: 'In', place: { radius: 0.5, center } }),
      'triggerParam.triggers[0].zone.place.radius',
      /1 to 20000/,
    ],
    [
      'radius with a fraction',
      withZone({ transition: 'In', place: { radius: 1.5, center } }),
      'triggerParam.triggers[0].zone.place.radius',
      /whole/,
    ],
    [
      'latitude beyond the pole',
      withZone({ transition: 'Out', place: { radius: 1, center: { longitude: 2, latitude: 91 } } }),
      'triggerParam.triggers[0].zone.place.center.latitude',
      /-90 to 90/,
    ],
    [
      'transition',
      withZone({ transition: 'Through', place: { radius: 1, center } }),
      'triggerParam.triggers[0].zone.transition',
      /In, Out/,
    ],
    ['no times', triggers({ name: 't', time: { times: [] } }), 'triggerParam.triggers[0].time.times', /1 to 64/],
    [
      'unknown zone',
      withTime(daily, { timeZone: 'Europe/Atlantis' }),
      'triggerParam.triggers[0].time.timeZone',
      /IANA/,
    ],
    ['an offset for a zone', withTime(daily, { timeZone: '+02:00' }), 'triggerParam.triggers[0].time.timeZone', /IANA/],
    [
      'daily without duration',
      withTime({ start: 'PT22H' }),
      'triggerParam.triggers[0].time.times[0].duration',
      /must have a duration/,
    ],
    [
      'daily from 24 h on',
      withTime({ start: 'PT24H', duration: 'PT1H' }),
      'triggerParam.triggers[0].time.times[0].start',
      /PT0H to PT23H59M59S/,
    ],
    [
      'daily at a date',
      withTime({ start: '2026-01-01T00:00:00Z', duration: 'PT1H' }),
      'triggerParam.triggers[0].time.times[0].start',
      /midnight/,
    ],
    [
      'a month',
      withTime({ start: 'PT0H', duration: 'P1M' }),
      'triggerParam.triggers[0].time.times[0].duration',
      /ISO 8601/,
    ],
    [
      'no time at all',
      withTime({ start: 'PT0H', duration: 'PT0S' }),
      'triggerParam.triggers[0].time.times[0].duration',
      /longer than nothing/,
    ],
    [
      'once at a time of day',
      withTime({ recurrence: 'None', start: 'PT1H' }),
      'triggerParam.triggers[0].time.times[0].start',
      /RFC 3339/,
    ],
    [
      'once on 30 February',
      withTime({ recurrence: 'None', start: '2026-02-30T00:00:00Z' }),
      'triggerParam.triggers[0].time.times[0].start',
      /RFC 3339/,
    ],
    [
      'once on Mondays',
      withTime({ recurrence: 'None', start: '2026-02-03T00:00:00Z', occurence: { day: ['Mon'] } }),
      'triggerParam.triggers[0].time.times[0].occurence',
      /Daily only/,
    ],
    [
      'an invalid day of the week',
      withTime({ ...daily, occurence: { day: ['Monday'] } }),
      'triggerParam.triggers[0].time.times[0].occurence.day[0]',
      /Mon, Tue/,
    ],
    [
      'week 54',
      withTime({ ...daily, occurence: { week: ['w54'] } }),
      'triggerParam.triggers[0].time.times[0].occurence.week[0]',
      /w1 to w53/,
    ],
    ['refresh too often', monitor({ subscribeParam: { refreshEvent: 59 } }), 'subscribeParam.refreshEvent', /60/],
    [
      'refresh with a fraction',
      monitor({ subscribeParam: { refreshEvent: 60.5 } }),
      'subscribeParam.refreshEvent',
      /whole/,
    ],
    ['unknown extension', monitor({ extendedEventParam: ['vehicle.radio'] }), 'extendedEventParam[0]', /no extension/],
    ['too long a context', monitor({ context: { before: 61 } }), 'context.before', /0 to 60/],
  ])('%s', (_, input, where, rule) => {
    const error = refusal(input);
    expect(error.where).toBe(where ?? 'monitor');
    expect(error.message).toMatch(rule);
    expect(['input.malformed', 'input.unknown']).toContain(error.code);
  });
});

describe('an expression', () => {
  const names = ['a', 'b', 'c_1'];

  test.each([
    ['', /character 1: expected the name of a trigger, ! or \(, found the end/],
    ['a &', /character 4: .*found the end/],
    ['a b', /character 3: expected & or \|, found "b"/],
    ['(a | b', /opened at character 1 is not closed: the text ends/],
    ['a | (b & (c_1)', /opened at character 5 is not closed/],
    ['a)', /character 2: a closing parenthesis/],
    ['a && b', /character 4: expected the name/],
    ['a & d', /character 5: no trigger is named d; there are a, b, c_1/],
    ['a | !a', /always true/],
    ['(a | b) & !a & !b', /never true/],
    ['(a & b & c_1) | !(a & b & c_1)', /always true/],
    [`${'('.repeat(33)}a${')'.repeat(33)}`, /deeper than 32/],
    [`a${' '.repeat(600)}`, /at most 512/],
  ])('%j is refused', (expression, rule) => {
    expect(() => truthTable(expression, names)).toThrow(rule);
  });

  test('may have a hundred negations, which cancel in pairs', () => {
    expect(truthTable(`${'!'.repeat(100)}a`, names)).toBe(truthTable('a', names));
    expect(truthTable(`${'!'.repeat(101)}a`, names)).toBe(truthTable('!a', names));
  });

  test('gives ! precedence over &, and & over |', () => {
    expect(truthTable('a | b & !c_1', names)).toBe(truthTable('a | (b & (!c_1))', names));
    expect(truthTable('!a & b | c_1', names)).toBe(truthTable('((!a) & b) | c_1', names));
    expect(truthTable('a | b & c_1', names)).not.toBe(truthTable('(a | b) & c_1', names));
  });

  const letters = ['a', 'b', 'c_1', 'd.2', 'e-3'];
  const text = fc.letrec<{ any: string }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.constantFrom(...letters),
      tie('any').map((one) => `!(${one})`),
      fc.tuple(tie('any'), fc.constantFrom('&', '|'), tie('any')).map((three) => three.join(' ')),
      tie('any').map((one) => `(${one})`),
    ),
  })).any;

  test('has the same truth table as by rewriting, and is refused if it is constant', () => {
    let constant = 0;
    fc.assert(
      fc.property(text, (expression) => {
        fc.pre(expression.length <= 512);
        let table = 0;
        for (let row = 0; row < 32; row++) {
          const values = new Map(letters.map((name, i) => [name, ((row >> i) & 1) === 1]));
          if (reduce(expression, values)) table |= 1 << row;
        }
        table >>>= 0;
        if (table !== 0 && table !== 0xffff_ffff) expect(truthTable(expression, letters)).toBe(table);
        else {
          constant++;
          expect(() => truthTable(expression, letters)).toThrow(table === 0 ? /never true/ : /always true/);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(constant).toBeGreaterThan(0);
  });

  test('is unknown only if the unknown inputs matter', () => {
    const table = truthTable('a & b | !a & c_1', names);
    expect(judge(table, [TRUE, TRUE, UNKNOWN])).toBe(TRUE);
    expect(judge(table, [TRUE, FALSE, UNKNOWN])).toBe(FALSE);
    expect(judge(table, [UNKNOWN, TRUE, TRUE])).toBe(TRUE);
    expect(judge(table, [UNKNOWN, FALSE, FALSE])).toBe(FALSE);
    expect(judge(table, [UNKNOWN, TRUE, FALSE])).toBe(UNKNOWN);
    expect(columns).toHaveLength(5);
  });
});

describe('a monitor', () => {
  test('has a normal form, which is stable when it is read again', () => {
    const codec = compile(monitorSchema, { unknownValues: 'refuse' });
    fc.assert(
      fc.property(parameter, (input) => {
        let compiled: ReturnType<typeof compileMonitor>;
        try {
          compiled = compileMonitor(input);
        } catch (error) {
          expect((error as Error).message).toMatch(/always true|never true/);
          return;
        }
        expect(compileMonitor(compiled.parameter)).toEqual(compiled);
        const kept: Monitor = {
          createdAt: 1,
          monitorId: 'abc',
          updatedAt: 2,
          status: 'Running',
          monitor: compiled.parameter,
        };
        expect(codec.decode(codec.encode(kept, 5), 5)).toEqual(kept);
      }),
    );
  });

  test('of the fleet line stores the settings of delivery separately', () => {
    const subscribeParam = {
      refreshEvent: 60,
      retryPolicy: { policy: 'Always' },
      batchNotify: { size: 3 },
      callback: { webhook: { target: 'https://example.com', name: 'w', attributes: [] } },
    };
    const { parameter: found, refresh } = compileMonitor(
      monitor({ subscribeParam, attributes: [{ type: 'Body', key: 'k', value: '$MonitorID' }] }),
    );
    expect(refresh).toBe(60_000);
    expect(found.subscribeParam).toEqual({ refreshEvent: 60 });
    const { refreshEvent: _, ...rest } = subscribeParam;
    expect(JSON.parse(found.delivery ?? '')).toEqual({
      subscribeParam: rest,
      attributes: [{ type: 'Body', key: 'k', value: '$MonitorID' }],
    });
    expect(compileMonitor(found).parameter).toEqual(found);
  });

  test('is accepted in the spellings that occur in practice', () => {
    const data = ['doorsState.lockedState', 'vehicle.doorsStates.lockedStates', 'vehicle.doorsState.lockedState'];
    expect(data.map(dataNameOf)).toEqual(Array(3).fill('vehicle.doorsState.lockedState'));
    expect(dataNameOf('energies.electric.level')).toBe('vehicle.energy.electric.level');
    expect(dataNameOf('vehicle.preconditionning.airConditioning')).toBe('vehicle.preconditioning.airConditioning');
    expect(dataNameOf('vehicle.privacy.state')).toBe('privacy.state');
    expect(dataNameOf('vehicle.')).toBeUndefined();
    expect(dataNameOf('__proto__')).toBeUndefined();
    expect(extensionOf('vehicle.doorsStates')).toEqual({ type: 'vehicle.doorsState' });
    expect(extensionOf('trip')).toEqual({ type: 'vehicle.trip' });
    expect(extensionOf('vehicle.telemetry.vehicle.engines')).toEqual({
      type: 'vehicle.telemetry',
      section: 'vehicle.engines',
    });
    expect(extensionOf('vehicle.telemetry.constructor')).toBeUndefined();
    const zone = compileMonitor(withZone({ transition: 'Out', circle: { radius: 2, center } })).parameter;
    expect(zone.triggerParam.triggers[0]?.zone).toEqual({ transition: 'Out', place: { radius: 2, center } });
    const time = compileMonitor(
      withTime({ start: '22H30', duration: 'PT1H', occurrence: { week: ['W40-W50'] } }),
    ).parameter;
    expect(time.triggerParam.triggers[0]?.time).toEqual({
      timeZone: 'Europe/Paris',
      times: [{ recurrence: 'Daily', start: 'PT22H30M', duration: 'PT1H', occurence: { week: ['w40-w50'] } }],
    });
  });

  test('with too many values for its operator uses the first, as published', () => {
    const { parameter: found } = compileMonitor(
      withData({ data: 'vehicle.odometer', op: 'greaterThan', value: ['5', '9'] }),
    );
    expect(found.triggerParam.triggers[0]?.data?.value).toEqual(['5']);
  });

  test('refers only to existing paths of Status', () => {
    for (const name of dataNames) {
      const { path } = dataRules[name];
      if (path !== undefined) expect([name, slotByPath.has(path)]).toEqual([name, true]);
    }
  });

  test('is small enough: a list of two thousand fits into a message', () => {
    const codec = compile(monitorListSchema);
    const monitors = Array.from({ length: 2_000 }, (_, i) => ({
      monitorId: `m${i}`,
      status: 'Running' as const,
      updatedAt: i,
    }));
    expect(codec.encode({ version: 9, monitors }, 0).length).toBeLessThan(64 * 1024);
    expect(() => codec.encode({ version: 9, monitors: [...monitors, ...monitors] }, 0)).toThrow(/at most 2000/);
  });
});

describe('monitors and the published interface', () => {
  const fleet = publishedEnumerations('fleet-3.19.2');
  const lines = [fleet, publishedEnumerations('user-4.17.2')];

  test('have the same data names and operators on both lines', () => {
    const names = lines.flatMap((found) => found['DataTrigger.data'] ?? []);
    const operators = lines.flatMap((found) => found['DataTrigger.op'] ?? []);
    expect(new Set(names)).toEqual(new Set(dataNames));
    for (const name of names) {
      for (const op of operators) {
        const { operators: allowed, values } = dataRules[dataNameOf(name)!];
        const value = op === 'onChange' ? {} : { value: [values === 'number' ? '5' : (values?.[0] ?? 'x')] };
        const input = withData({ data: name, op, ...value });
        if (allowed.includes(op as never)) expect(compileMonitor(input).triggers).toHaveLength(1);
        else expect(refusal(input).where).toBe('triggerParam.triggers[0].data.op');
      }
    }
  });

  test('have the same extensions and sections of telemetry', () => {
    const types = lines.flatMap((found) => found['MonitorParameter.extendedEventParam'] ?? []);
    for (const type of types) expect([type, extensionOf(type)?.type]).toEqual([type, type]);
    const sections = lines.flatMap((found) => found['TelemetryEnum'] ?? []);
    expect(new Set(sections)).toEqual(new Set(Object.keys(telemetrySections)));
  });

  test('have the same values in enumerations', () => {
    const published: Record<string, string> = {
      'vehicle.alert': 'AlertMsgEnum',
      'vehicle.powertrain.status': 'PowertrainBase.status',
      'vehicle.energy.charging.status': 'ChargingStatusEnum',
      'vehicle.energy.charging.type': 'EnergyCharging.type',
      'vehicle.trip.state': 'TripStateEnum',
      'vehicle.safety.beltWarning': 'BeltStatus.belt',
      'privacy.state': 'PrivacyBase.state',
      'vehicle.drivingBehavior.mode': 'DrivingBehaviorBase.mode',
      'vehicle.collision.side': 'CollisionDetails.side',
      'vehicle.collision.severity': 'CollisionDetails.severity',
      'vehicle.safety.autoECallTriggering': 'BaseSafety.autoECallTriggering',
      'vehicle.alarm.trigger.type': 'BaseAlarmTrigger.type',
      'vehicle.alarm.status.activation': 'BaseAlarmStatus.activation',
    };
    for (const [name, enumeration] of Object.entries(published)) {
      const { values } = dataRules[dataNameOf(name)!];
      expect([name, new Set(values as readonly string[])]).toEqual([name, new Set(fleet[enumeration])]);
    }
  });
});
