/** Suggested paths for single signals, one rule per test. */

import { describe, expect, test } from 'vitest';
import { rules } from '../../../commands/suggest/rules/index.ts';
import { meanings } from '../../../commands/suggest/vocabulary.ts';
import { tokensOf, wordsOf } from '../../../commands/suggest/words.ts';
import { channelByPath } from '../../../protocol/channels.ts';
import { defined } from '../../../protocol/defined.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { network, suggestedForText } from './suggested.ts';

const of = (message: string, ...signals: readonly string[]) => suggestedForText(network(message, ...signals));
/** A DBC with one signal and its value table. */
const labelled = (message: string, signal: string, labels: string) =>
  suggestedForText(`${network(message, signal)}\nVAL_ 291 ${signal.split(' ')[0]} ${labels} ;\n`);

const speed = (name: string, unit: string, range = '[0|300]'): string =>
  `${name} : 0|16@1+ (0.01,0) ${range} "${unit}"`;

describe('names', () => {
  test.each([
    ['ESP_v_Signal', ['esp', 'v', 'signal']],
    ['P000_Com_nEng', ['p', '000', 'com', 'n', 'eng']],
    ['DoorFL', ['door', 'fl']],
    ['Außentemperatur', ['aussentemperatur']],
    ['TEMPÉRATURE_EAU', ['temperature', 'eau']],
  ])('%s is split into %j', (name, tokens) => expect(tokensOf(name)).toEqual(tokens));

  test('a compound is split only if all of its parts are known words', () => {
    expect(wordsOf('Kuehlmitteltemperatur').map(({ text }) => text)).toEqual(['kuehlmittel', 'temperatur']);
    expect(wordsOf('vehicle'.repeat(20_000)).length).toBe(20_000);
    expect(wordsOf('Solldrehzahlxyz').map(({ text }) => text)).toEqual(['solldrehzahlxyz']);
  });

  test('adjacent words with one meaning count as one word', () => {
    expect(wordsOf('PARK_BRAKE_STATE').map(({ text }) => text)).toEqual(['park-brake', 'state']);
  });

  test.each([
    ['a wheel', 'WHEEL_SPEED_FL'],
    ['a request', 'VehicleSpeedRequest'],
    ['a limit', 'MaxVehicleSpeed'],
    ['an abbreviated limit', 'VehSpdLmt'],
    ['cruise control', 'CruiseSpeed'],
    ['the car in front', 'LEAD_VEHICLE_SPEED'],
    ['the fan', 'FanSpeed'],
    ['whether the speed is valid', 'VehicleSpeedValid'],
  ])('the speed of %s is not the speed of the car', (_, name) => {
    expect(of('FRAME', speed(name, 'km/h')).suggestions.lines).toEqual([]);
  });

  test('the more specific of two names is suggested, and the other is listed as an alternative', () => {
    const { lines, text } = of('FRAME', speed('Speed', 'km/h'), speed('VehicleSpeed', 'km/h').replace('0|16', '16|16'));
    expect(lines['kinetic.speed']?.signal).toBe('FRAME.VehicleSpeed');
    expect(text).toContain('FRAME.Speed also fits');
  });

  test('the message name supplies words that the signal name omits', () => {
    const { lines } = of('ENGINE_TEMPERATURES', 'Coolant : 0|8@1+ (1,-40) [-40|214] "degC"');
    expect(Object.keys(lines)).toEqual(['engines.Thermic.extension.thermic.coolant.temp']);
  });

  test('an unknown word in the signal name prevents use of the message name', () => {
    const { suggestions } = of('STABILITY', 'TroxelActive : 0|1@1+ (1,0) [0|1] ""');
    expect(suggestions.lines).toEqual([]);
  });
});

describe('units', () => {
  test.each([
    ['mph', 1.609344],
    ['m/s', 3.6],
    ['KPH', undefined],
    ['Unit_KiloMeterPerHour', undefined],
  ])('a speed in %s has the scale %s', (unit, scale) => {
    expect(of('FRAME', speed('VehicleSpeed', unit)).lines['kinetic.speed']).toEqual({
      signal: 'FRAME.VehicleSpeed',
      ...defined({ scale }),
      invalid: [0xffff],
    });
  });

  test('degrees Fahrenheit have scale and offset', () => {
    const { lines } = of('FRAME', 'OutsideTemp : 0|8@1+ (1,-40) [-40|215] "°F"');
    expect(lines['environment.air.temp']).toMatchObject({ scale: 0.555555556, offset: -17.7777778 });
  });

  test('a signal with the unit of another quantity is never suggested', () => {
    const { suggestions } = of('FRAME', speed('VehicleSpeed', 'Nm'), 'OutsideTemp : 16|8@1+ (1,-40) [-40|215] "%"');
    expect(suggestions.lines).toEqual([]);
  });

  test('a speed without a unit may be km/h or mph, and is a question', () => {
    const { lines, questions, text } = of('FRAME', speed('VehicleSpeed', ''));
    expect(lines).toEqual({});
    expect(questions['kinetic.speed']).toMatch(/may be km\/h or mph \(scale: 1\.609344\)/);
    expect(text).toContain('# kinetic.speed: { signal: FRAME.VehicleSpeed, scale: ?, offset: ? }');
  });

  test('the unit in the name counts', () => {
    expect(of('FRAME', speed('VehicleSpeed_mph', '')).lines['kinetic.speed']).toMatchObject({ scale: 1.609344 });
  });

  test('a range that fits only degrees Celsius decides the unit', () => {
    const { lines } = of('FRAME', 'OutsideTemp : 0|8@1+ (0.5,-40) [-40|87.5] ""');
    expect(lines['environment.air.temp']).toEqual({ signal: 'FRAME.OutsideTemp' });
  });

  test('a range never decides for an unusual unit such as radians per second', () => {
    const { lines } = of('FRAME', 'EngineSpeed : 0|13@1+ (1,0) [0|1023] ""');
    expect(lines).toEqual({});
  });

  test('a counter that ends at 2550 m is not suggested as the odometer', () => {
    expect(of('FRAME', 'ODOMETER : 0|8@1+ (10,0) [0|2550] "m"').suggestions.lines).toEqual([]);
  });

  test('a fuel level in litres is a question, because the tank size is unknown', () => {
    const { lines, questions } = of('FRAME', 'FuelLevel : 0|8@1+ (0.5,0) [0|127] "L"');
    expect(lines).toEqual({});
    expect(questions['energies.Fuel.level']).toContain('in litres: give scale: 100 /');
  });

  test('the charge of "the battery" is a question, that of the traction battery is not', () => {
    const soc = (name: string): string => `${name} : 0|8@1+ (0.5,0) [0|100] "%"`;
    expect(of('FRAME', soc('Battery_SOC')).questions['energies.Electric.level']).toContain('that of the starter?');
    expect(of('FRAME', soc('HV_Battery_SOC')).lines['energies.Electric.level']?.signal).toBe('FRAME.HV_Battery_SOC');
  });
});

describe('labels', () => {
  const path = 'lightingSystem.turn.LeftFront.status';

  test('"active" next to a side applies to that side', () => {
    const labels =
      '0 "Turn signal inactive" 1 "Right turn signal active" 2 "Left turn signal active" 3 "Both turn signals active"';
    const { lines } = labelled('FRAME', 'TURN_SIGNAL_STATUS : 0|2@1+ (1,0) [0|3] ""', labels);
    expect(lines[path]?.map).toEqual({ 0: 'Off', 1: 'Off', 2: 'On', 3: 'On' });
    expect(lines['lightingSystem.turn.RightRear.status']?.map).toEqual({ 0: 'Off', 1: 'On', 2: 'Off', 3: 'On' });
  });

  test('"no" to a name with the opposite meaning is yes', () => {
    const { lines } = labelled('FRAME', 'VehicleStopped : 0|2@1+ (1,0) [0|3] ""', '0 "No" 1 "Yes" 2 "Unknown"');
    expect(lines['kinetic.moving']?.map).toEqual({ 0: true, 1: false });
  });

  test('labels for missing or faulty parts are left out', () => {
    const labels = '0 "not installed" 1 "not available" 2 "not fastened" 3 "fastened"';
    const { lines } = labelled('FRAME', 'DriverBelt : 0|2@1+ (1,0) [0|3] ""', labels);
    expect(lines['safety.beltStatus.Driver.belt']?.map).toEqual({ 2: 'Omission', 3: 'Normal' });
  });

  test('a negation after the word counts, as in German', () => {
    const { lines } = labelled('FRAME', 'Motor_laeuft : 0|1@1+ (1,0) [0|1] ""', '0 "laeuft nicht" 1 "laeuft"');
    expect(lines['powertrain.status']?.map).toEqual({ 0: 'NotRunning', 1: 'Running' });
  });

  test('labels equal to the values of the path are used unchanged', () => {
    const { lines } = labelled(
      'FRAME',
      'IgnitionState : 0|3@1+ (1,0) [0|7] ""',
      '0 "Stop" 1 "StartUp" 2 "Start" 7 "SNA"',
    );
    expect(lines['ignition.type']?.map).toEqual({ 0: 'Stop', 1: 'StartUp', 2: 'Start' });
  });

  test('ignition "on" is StartUp if another signal reports a running engine', () => {
    const labels = 'VAL_ 291 Ignition 0 "Off" 1 "Accessory" 2 "On" ;\n';
    const ignition = 'Ignition : 0|2@1+ (1,0) [0|3] ""';
    const running = 'EngineRunning : 8|1@1+ (1,0) [0|1] ""';
    const alone = suggestedForText(`${network('FRAME', ignition)}\n${labels}`);
    const both = suggestedForText(`${network('FRAME', ignition, running)}\n${labels}`);
    expect(alone.lines['ignition.type']?.map).toEqual({ 0: 'Stop', 1: 'StartUp', 2: 'Start' });
    expect(both.lines['ignition.type']?.map).toEqual({ 0: 'Stop', 1: 'StartUp', 2: 'StartUp' });
  });

  test('P and D of a selector, and the low range, are not ratios', () => {
    const labels = '0 "P" 1 "R" 2 "N" 3 "D" 4 "L2" 5 "SNA"';
    const { lines } = labelled('FRAME', 'GearShifter : 0|3@1+ (1,0) [0|7] ""', labels);
    expect(lines['transmission.gearbox.ratio']?.map).toEqual({ 1: 'Reverse', 2: 'Neutral' });
  });

  test('selector positions are not engaged gears, but gear numbers are', () => {
    const labels = '0 "P" 1 "R" 2 "N" 3 "D" 4 "3" 5 "2" 6 "1"';
    const path = 'transmission.gearbox.ratio';
    const lever = labelled('FRAME', 'SelectorLever : 0|3@1+ (1,0) [0|7] ""', labels).lines[path];
    const gear = labelled('FRAME', 'CurrentGear : 0|3@1+ (1,0) [0|7] ""', labels).lines[path];
    expect(lever?.map).toEqual({ 1: 'Reverse', 2: 'Neutral' });
    expect(gear?.map).toEqual({ 1: 'Reverse', 2: 'Neutral', 4: 'Ratio3', 5: 'Ratio2', 6: 'Ratio1' });
  });

  test('a signal named only Status gets its meaning from the message', () => {
    const { lines } = labelled('CHARGING', 'Status : 0|2@1+ (1,0) [0|3] ""', '0 "Stopped" 1 "InProgress" 3 "SNA"');
    expect(lines['energies.Electric.extension.electric.charging.status']?.map).toEqual({
      0: 'Stopped',
      1: 'InProgress',
    });
    // The status in a message about speed is not the speed.
    expect(of('VEHICLE_SPEED', 'Status : 0|8@1+ (1,0) [0|200] ""').suggestions.lines).toEqual([]);
  });

  test('several bits without labels are a question that lists the raw values', () => {
    const { text, lines } = of('FRAME', 'DriverDoor : 0|2@1+ (1,0) [0|3] ""');
    expect(lines).toEqual({});
    expect(text).toContain('map: { 0: ?, 1: ?, 2: ?, 3: ? }');
  });

  test('a name with the opposite meaning inverts one bit', () => {
    const { lines } = of('FRAME', 'DOOR_CLOSED_RL : 0|1@1+ (1,0) [0|1] ""');
    expect(lines['doorsState.opening.RearLeft.state']?.map).toEqual({ 0: 'Open', 1: 'Closed' });
  });

  test('one belt bit without a meaning in its name is a question', () => {
    const { lines, questions } = of('FRAME', 'DRIVER_SEATBELT : 0|1@1+ (1,0) [0|1] ""');
    expect(lines).toEqual({});
    expect(Object.keys(questions)).toEqual(['safety.beltStatus.Driver.belt']);
  });

  test('the buckle of an unoccupied seat is not suggested', () => {
    expect(of('FRAME', 'PASSENGER_SEATBELT_UNLATCHED : 0|1@1+ (1,0) [0|1] ""').lines).toEqual({});
  });

  test('lamps of different corners are distinguished', () => {
    const lamp = (name: string, at: number): string => `${name} : ${at}|1@1+ (1,0) [0|1] ""`;
    const { lines } = of('LIGHTS', lamp('FogFL', 0), lamp('FogFR', 1), lamp('FogRL', 2), lamp('FogRR', 3));
    const fogs = ['LeftFront', 'RightFront', 'LeftRear', 'RightRear'].map(
      (at) => lines[`lightingSystem.fog.${at}.status`],
    );
    expect(fogs.map((source) => source?.signal)).toEqual([
      'LIGHTS.FogFL',
      'LIGHTS.FogFR',
      'LIGHTS.FogRL',
      'LIGHTS.FogRR',
    ]);
  });
});

describe('values in a log', () => {
  const shown = (signal: string, span: readonly [number, number], more: object = {}) =>
    suggestedForText(network('FRAME', signal), () => ({ raws: new Set([1]), span, changes: 3, falls: 0, ...more }));

  test('values impossible in a car rule out the signal', () => {
    expect(shown(speed('VehicleSpeed', 'km/h'), [0, 90]).lines['kinetic.speed']).toBeDefined();
    expect(shown(speed('VehicleSpeed', 'km/h', '[0|655]'), [500, 600]).suggestions.lines).toEqual([]);
  });

  test('a total that decreases is not suggested as an odometer', () => {
    const odometer = 'Odometer : 0|24@1+ (0.1,0) [0|999999] "km"';
    expect(shown(odometer, [1000, 1001]).lines['odometer.mileage']).toBeDefined();
    expect(shown(odometer, [1000, 1001], { falls: 2 }).suggestions.lines).toEqual([]);
  });

  test('raw values outside the range of the DBC are treated as codes', () => {
    const signal = 'CoolantTemp : 0|8@1+ (1,-40) [-40|150] "degC"';
    const { lines } = shown(signal, [20, 90], { raws: new Set([60, 130, 254, 255]) });
    expect(lines['engines.Thermic.extension.thermic.coolant.temp']?.invalid).toEqual([254, 255]);
  });

  test('the timeout is ten message periods, at least two seconds', () => {
    expect(shown(speed('VehicleSpeed', 'km/h'), [0, 90], { period: 20 }).lines['kinetic.speed']?.timeout).toBe('2s');
    expect(shown(speed('VehicleSpeed', 'km/h'), [0, 90], { period: 900 }).lines['kinetic.speed']?.timeout).toBe('9s');
  });

  test('the longer of DBC cycle time and logged period counts', () => {
    const text = `${network('FRAME', speed('VehicleSpeed', 'km/h'))}\nBA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;\nBA_ "GenMsgCycleTime" BO_ 291 100;\n`;
    const timeout = (period: number): string | undefined =>
      suggestedForText(text, () => ({ raws: new Set([1]), span: [0, 9], changes: 3, falls: 0, period })).lines[
        'kinetic.speed'
      ]?.timeout;
    expect([timeout(50), timeout(900)]).toEqual(['2s', '9s']);
  });

  test('a signal without values in the log ranks below one with values', () => {
    const text = network('FRAME', speed('VehicleSpeed', 'km/h'), speed('Speed', 'km/h').replace('0|16', '16|16'));
    const { lines } = suggestedForText(text, (_, { name }) => {
      return name === 'Speed' ? { raws: new Set([1]), span: [0, 50], changes: 3, falls: 0 } : undefined;
    });
    expect(lines['kinetic.speed']?.signal).toBe('FRAME.Speed');
  });
});

describe('the tables', () => {
  const concepts = new Set([...meanings.values()].flat());
  const known = (concept: string): boolean =>
    concepts.has(concept.replace(/^not-/, '') as never) || /^digit[1-8]$/.test(concept);

  test('every rule names an existing path or channel once, with valid values', () => {
    for (const { path, states } of rules) {
      const leaf = slotByPath.get(path) ?? channelByPath.get(path);
      expect(leaf, path).toBeDefined();
      const values = leaf?.values ?? ['true', 'false'];
      for (const [value] of states?.values ?? []) expect(values, path).toContain(value);
      for (const value of [...(states?.enough ?? []), ...(states?.bit ?? [])]) expect(values, path).toContain(value);
    }
    expect(new Set(rules.map(({ path }) => path)).size).toBe(rules.length);
  });

  test('every meaning that a rule needs has a word', () => {
    for (const { path, names, besides = '', around = '', never = '', states, alone, doubt } of rules) {
      const labels = [...(states?.values ?? []), ...(alone?.states.values ?? [])].map(([, label]) => label);
      const lists = [besides, around, never, states?.bitNeeds, states?.turnedBy, doubt?.when, doubt?.unless];
      const asked = [...names, ...labels, ...lists].flatMap((text) => (text ?? '').split(/[ /]/));
      for (const concept of asked)
        if (concept !== '') expect(known(concept.replace('!', '')), `${path}: ${concept}`).toBe(true);
    }
  });
});
