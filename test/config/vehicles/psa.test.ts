/** The shipped profile of Peugeot, Citroën and DS (AEE2010): it must load, and convert frames to the right Status. */
import { describe, expect, test } from 'vitest';
import { Channels } from '../../../agent/model/channels.ts';
import { Mapping } from '../../../agent/model/mapping.ts';
import { Status } from '../../../agent/model/status.ts';
import { decoderFor, inspectVehicle, loadVehicle } from '../../../assembly/vehicle.ts';
import { slotByPath } from '../../../protocol/slots.ts';
import { batchOf, bytes } from '../../adapters/can/dbc/frames.ts';
import { BUSES, type Bus, description, signalsOf } from './psa.ts';

const T = Date.UTC(2026, 0, 1);

type Sent = readonly [bus: Bus, id: number, data: string, at?: number];

/** A car that decodes frames like an agent. */
function car() {
  const vehicle = loadVehicle('psa-aee2010');
  const status = new Status();
  const mapping = new Mapping(status, new Channels(), vehicle.profile);
  const decoder = decoderFor(vehicle, mapping.wanted, BUSES);
  const hear = (...frames: Sent[]) =>
    decoder.decode(
      batchOf(frames.map(([bus, id, data, at = T]) => ({ id, data: bytes(data), bus: BUSES.indexOf(bus), at }))),
      mapping,
    );
  const value = (path: string) => status.value(slotByPath.get(path)!);
  const paths = [...new Set(vehicle.profile.sources.map((source) => source.path))];
  return { hear, value, paths, vehicle };
}

describe('the profile', () => {
  test('has no findings, and its Status and its DBC files contain the same signals', () => {
    const { vehicle, diagnostics } = inspectVehicle('psa-aee2010');
    expect(diagnostics).toEqual([]);
    const used = new Set(vehicle?.profile.sources.map(({ bus, message, signal }) => `${bus}/${message}.${signal}`));
    const described = BUSES.flatMap((bus) => signalsOf(description(bus)).map((name) => `${bus}/${name}`));
    expect([...used].sort()).toEqual(described.sort());
  });

  test('sends nothing to the car', () => {
    expect(loadVehicle('psa-aee2010').profile.commands).toEqual({});
  });

  test('has a timeout of several message periods for every path', () => {
    const cycle = new Map(
      BUSES.flatMap((bus) =>
        description(bus).messages.map((one) => [one.symbol, Number(one.attributes.get('GenMsgCycleTime'))] as const),
      ),
    );
    for (const { path, message, timeout } of loadVehicle('psa-aee2010').profile.sources) {
      expect(timeout, path).toBeGreaterThanOrEqual(5 * cycle.get(message)!);
    }
  });
});

/** Frames of both buses at 72.5 km/h in third gear, with all equipment switched on. */
const scene: Sent[] = [
  ['inter-systems', 0x208, '39d0000000000000'],
  ['inter-systems', 0x348, '3000000000030000'],
  ['inter-systems', 0x34d, '4000000000000000'],
  ['inter-systems', 0x38d, '1c520000a0000100'],
  ['inter-systems', 0x388, '13880000b40000'],
  ['inter-systems', 0x412, '080000000100c800'],
  ['inter-systems', 0x432, '0000000000000100'],
  ['inter-systems', 0x452, 'a20000000000'],
  ['inter-systems', 0x488, '820000000087003e'],
  ['inter-systems', 0x50d, '20000000000000'],
  ['inter-systems', 0x552, '0000000000b26e00'],
  ['inter-systems', 0x572, '8000000000000000'],
  ['inter-systems', 0x5b2, '00005f0000000000'],
  ['infotainment', 0x0f6, '8e8306f855666042'],
  ['infotainment', 0x128, '1090240202400000'],
  ['infotainment', 0x161, '0000883f000050'],
  ['infotainment', 0x220, '0000400000'],
  ['infotainment', 0x221, '00003802800000'],
];

const told = {
  'kinetic.speed': 72.5,
  'kinetic.acceleration': -1.2,
  'kinetic.moving': true,
  'odometer.mileage': 45678.9,
  'transmission.gearbox.ratio': 'Ratio3',
  'transmission.gearbox.mode.sport': true,
  'transmission.gearbox.mode.snow': false,
  'transmission.gearbox.mode.sequential': false,
  'ignition.type': 'Start',
  'powertrain.status': 'Running',
  'engines.Thermic.speed': 1850,
  'engines.Thermic.extension.thermic.coolant.temp': 90,
  'engines.Thermic.extension.thermic.oil.temp': 95,
  'engines.Thermic.extension.thermic.oil.level': 80,
  'engines.Thermic.extension.thermic.air.temp': 22,
  'energies.Fuel.level': 63,
  'energies.Fuel.autonomy': 640,
  'energies.Fuel.extension.fuel.consumptions.instant': 5.6,
  'doorsState.opening.Driver.state': 'Open',
  'doorsState.opening.Passenger.state': 'Closed',
  'doorsState.opening.RearLeft.state': 'Closed',
  'doorsState.opening.RearRight.state': 'Open',
  'doorsState.opening.Trunk.state': 'Open',
  'doorsState.opening.RearWindow.state': 'Closed',
  'doorsState.opening.RoofWindow.state': 'Open',
  'safety.beltStatus.Driver.belt': 'Omission',
  'safety.beltStatus.Passenger.belt': 'Normal',
  'lightingSystem.turn.LeftFront.status': 'On',
  'lightingSystem.turn.LeftRear.status': 'On',
  'lightingSystem.turn.RightFront.status': 'Off',
  'lightingSystem.turn.RightRear.status': 'Off',
  'lightingSystem.fog.LeftFront.status': 'On',
  'lightingSystem.fog.RightFront.status': 'On',
  'lightingSystem.fog.LeftRear.status': 'Off',
  'lightingSystem.fog.RightRear.status': 'Off',
  'wipingBlades.active': true,
  'wipingBlades.speed': 'Low',
  'privacy.state': 'Geolocation',
  'environment.air.temp': 8,
  'adas.esp': true,
  'adas.abs': true,
  'adas.fse': true,
  'adas.lvv': true,
  'adas.rgi': 'Up',
};

describe('Status', () => {
  test('of a drive has every path of the profile', () => {
    const { hear, value, paths } = car();
    hear(...scene);
    expect(Object.fromEntries(paths.map((path) => [path, value(path)]))).toEqual(told);
  });

  test.each([
    {
      bus: 'inter-systems' as const,
      differs: { 'odometer.mileage': 45678, 'environment.air.temp': 7.5, 'ignition.type': 'StartUp' },
      belt: 'Normal',
    },
    {
      bus: 'infotainment' as const,
      differs: { 'transmission.gearbox.ratio': 'Ratio1', 'engines.Thermic.extension.thermic.oil.temp': 96 },
      belt: 'Omission',
    },
  ])('of a drive has the expected values from $bus alone', ({ bus, differs, belt }) => {
    const { hear, value, paths, vehicle } = car();
    hear(...scene.filter(([from]) => from === bus));
    const fed = new Set(vehicle.profile.sources.filter((one) => one.bus === bus).map((one) => one.path));
    const coolant = bus === 'infotainment' ? 91 : 90;
    const expected: Record<string, unknown> = {
      ...told,
      'engines.Thermic.extension.thermic.coolant.temp': coolant,
      'safety.beltStatus.Driver.belt': belt,
      ...differs,
    };
    for (const path of paths) expect(value(path), path).toEqual(fed.has(path) ? expected[path] : undefined);
  });

  const shown = { 0: undefined, 1: 'Reverse', 2: 'Neutral', 3: undefined, 4: 'Ratio6', 5: 'Ratio5', 6: 'Ratio4' };
  const more = { 7: 'Ratio3', 8: 'Ratio2', 9: 'Ratio1', 10: undefined, 11: undefined, 12: 'Ratio7', 13: 'Ratio8' };
  test.each(Object.entries({ ...shown, ...more }))('the dashboard shows gear %s: %s', (raw, ratio) => {
    const { hear, value } = car();
    hear(['infotainment', 0x128, `00${Number(raw).toString(16)}0000000000000`]);
    expect(value('transmission.gearbox.ratio')).toBe(ratio);
  });

  // Values that the scene above does not contain, one field of a frame at a time.
  test.each<[Sent, Record<string, unknown>]>([
    [
      ['infotainment', 0x128, '0800000000000000'],
      { 'lightingSystem.fog.LeftRear.status': 'On', 'lightingSystem.fog.LeftFront.status': 'Off' },
    ],
    [
      ['infotainment', 0x128, '0000000000100000'],
      { 'safety.beltStatus.Passenger.belt': 'Omission', 'safety.beltStatus.Driver.belt': 'Normal' },
    ],
    [
      ['infotainment', 0x128, '0000500000000000'],
      { 'transmission.gearbox.mode.sport': true, 'transmission.gearbox.mode.sequential': true },
    ],
    [
      ['infotainment', 0x128, '0000680000000000'],
      { 'transmission.gearbox.mode.snow': true, 'transmission.gearbox.mode.sport': false, 'adas.rgi': 'Down' },
    ],
    [['infotainment', 0x128, '00000c0000000000'], { 'adas.rgi': 'UpDown', 'transmission.gearbox.mode.snow': false }],
    [['infotainment', 0x220, '0000000000'], { 'privacy.state': 'Full' }],
    [['infotainment', 0x220, '0000800000'], { 'privacy.state': 'None' }],
    [['infotainment', 0x220, '0000c00000'], { 'privacy.state': undefined }],
    [['inter-systems', 0x412, '0000000002000400'], { 'doorsState.opening.RearWindow.state': 'Open' }],
    [['inter-systems', 0x412, '0000000002000000'], { 'doorsState.opening.RoofWindow.state': 'Open' }],
    [['inter-systems', 0x412, '00000000fc000000'], { 'doorsState.opening.RoofWindow.state': 'Closed' }],
    [['inter-systems', 0x412, '0000000003000000'], { 'doorsState.opening.RoofWindow.state': undefined }],
    [['inter-systems', 0x412, '00000000000010f0'], { 'doorsState.opening.Passenger.state': 'Open' }],
    [['inter-systems', 0x412, '000000000000200f'], { 'doorsState.opening.RearLeft.state': 'Open' }],
    [['inter-systems', 0x452, 'd00000000000'], { 'wipingBlades.speed': 'High', 'adas.lvv': false }],
    [
      ['inter-systems', 0x452, '510000000000'],
      { 'wipingBlades.active': true, 'wipingBlades.speed': undefined, 'lightingSystem.turn.RightRear.status': 'On' },
    ],
    [['inter-systems', 0x572, '4000000000000000'], { 'safety.beltStatus.Driver.belt': 'Omission' }],
    [['inter-systems', 0x348, '900000000004ffff'], { 'powertrain.status': 'Stopped' }],
    [['inter-systems', 0x38d, '0000000000000200'], { 'kinetic.moving': false, 'kinetic.speed': 0 }],
  ])('after frame %j contains %j', (frame, expected) => {
    const { hear, value } = car();
    hear(frame);
    for (const [path, state] of Object.entries(expected)) expect(value(path), path).toBe(state);
  });

  test("uses the engine's speed when the brakes are silent", () => {
    const { hear, value } = car();
    hear(['inter-systems', 0x38d, '1c520000a0000100'], ['inter-systems', 0x388, '13880000b40000', T + 2000]);
    expect(value('kinetic.speed')).toBe(72.5);
    hear(['inter-systems', 0x388, '13890000b40000', T + 2040]);
    expect(value('kinetic.speed')).toBe(50.01);
    expect(value('kinetic.acceleration')).toBe(0.4);
  });

  test('prefers the gear of an automatic gearbox to the estimate', () => {
    const { hear, value } = car();
    hear(['inter-systems', 0x349, '0000005000000000'], ['inter-systems', 0x348, '4000000000030000']);
    expect(value('transmission.gearbox.ratio')).toBe('Ratio5');
    hear(['inter-systems', 0x349, '000000a000000000', T + 20]);
    expect(value('transmission.gearbox.ratio')).toBe('Neutral');
  });

  test('derives ignition and powertrain from contact and engine', () => {
    const { hear, value } = car();
    const contact = { off: 0, on: 1, cranking: 2 };
    const rows: [keyof typeof contact, engine: number, ignition: string, powertrain: string][] = [
      ['off', 0, 'Stop', 'NotRunning'],
      ['on', 0, 'StartUp', 'NotRunning'],
      ['cranking', 1, 'StartUp', 'Starting'],
      ['on', 1, 'StartUp', 'Starting'],
      ['on', 2, 'Start', 'Running'],
      ['on', 3, 'Start', 'Stopped'],
      ['off', 2, 'Stop', 'Running'],
    ];
    rows.forEach(([position, engine, ignition, powertrain], i) => {
      for (const generator of [0, 4]) {
        const first = 0x80 | (contact[position] << 3) | generator | engine;
        hear(['infotainment', 0x0f6, `${first.toString(16)}ffffffffffff00`, T + i * 500 + generator]);
        expect([value('ignition.type'), value('powertrain.status')], `${position} ${engine}`).toEqual([
          ignition,
          powertrain,
        ]);
      }
    });
  });

  test('ignores frames of all ones, which mean that there is no value', () => {
    const { hear, value, paths } = car();
    hear(...scene.map(([bus, id, data]): Sent => [bus, id, data.replace(/./g, 'f')]));
    hear(['inter-systems', 0x349, 'ffffffffffffffff']);
    const states = ['ignition.type', 'powertrain.status', 'kinetic.moving', 'transmission.gearbox.ratio'];
    const none = [...states, 'doorsState.opening.RoofWindow.state', 'privacy.state'];
    for (const path of paths) {
      if (none.includes(path) || slotByPath.get(path)!.kind === 'quantity') expect(value(path), path).toBeUndefined();
    }
  });

  test('ignores codes above the range of the outside temperature', () => {
    const { hear, value } = car();
    for (let raw = 251; raw <= 255; raw++) {
      hear(['inter-systems', 0x5b2, `0000${raw.toString(16)}0000000000`, T + raw]);
      expect(value('environment.air.temp')).toBeUndefined();
    }
    hear(['inter-systems', 0x5b2, '0000fa0000000000', T + 1000]);
    expect(value('environment.air.temp')).toBe(85);
  });

  test('ignores shorter frames that the predecessor sends with the same identifiers', () => {
    const { hear, value } = car();
    hear(['infotainment', 0x220, 'ff80'], ['inter-systems', 0x552, '0102030405']);
    expect(value('privacy.state')).toBeUndefined();
    expect(value('odometer.mileage')).toBeUndefined();
  });
});
