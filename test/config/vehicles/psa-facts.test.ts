/**
 * Compares the layout of the shipped AEE2010 profile with the known facts about these cars, and with the optional
 * shared descriptions.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Database, DbcDecoder, parseDbc, type WantedSignal } from '../../../adapters/can/dbc/index.ts';
import { batchOf, bytes, Recorder } from '../../adapters/can/dbc/frames.ts';
import { chance } from '../../golden/naive-frames.ts';
import { describeShared, sharedData } from '../../shared.ts';
import { BUSES, description, signalsOf } from './psa.ts';
import { bitsOf, psaPlaces } from './psa-places.ts';

/** Own signals with the corresponding signals in the shared description of the same car. */
const sameBits: Readonly<Record<string, string>> = {
  'CRANKSHAFT.Speed': 'Dyn_CMM.P000_Com_nEng',
  'ENGINE_STATE.GearEstimate': 'Dyn2_CMM.P152_Gearbx_stGear',
  'ENGINE_STATE.RunState': 'Dyn2_CMM.P134_Com_stEng',
  'GEARBOX_STATE.TargetGear': 'Dyn_V2_BVMP.P283_Com_stGearTrgtPos',
  'STABILITY.Intervenes': 'Dyn_CDS.P147_Com_bESPIntvActv',
  'ENGINE_MOTION.Speed': 'Dyn_Veh.P060_vECU',
  'ENGINE_MOTION.Acceleration': 'Dyn_Veh.P066_aECU',
  'WHEEL_MOTION.Speed': 'HS2_DYN_ABR_38D.VITESSE_VEHICULE_ROUES',
  'WHEEL_MOTION.Acceleration': 'HS2_DYN_ABR_38D.ACCEL_LONGI_ROUES',
  'WHEEL_MOTION.Moving': 'HS2_DYN_ABR_38D.VHL_MVT',
  'BODY_STATE.ParkingBrake': 'Dat_BSI.PARKING_BRAKE',
  'BODY_STATE.DoorDriver': 'Dat_BSI.DRIVER_DOOR',
  'BODY_STATE.DoorPassenger': 'Dat_BSI.PASSENGER_DOOR',
  'SUPPLY_STATE.Contact': 'Dat_BSI1.P368_Com_stMnSEVRaw',
  'DRIVER_CONTROLS.SpeedControl': 'HS2_DAT_MDD_CMD_452.LONGITUDINAL_REGULATION_TYPE',
  'DRIVER_CONTROLS.TurnSignal': 'HS2_DAT_MDD_CMD_452.TURN_SIGNAL_STATUS',
  'DRIVER_CONTROLS.FrontWiper': 'HS2_DAT_MDD_CMD_452.FRONT_WIPER_STATUS',
  'ENGINE_TEMPERATURES.Coolant': 'Dat_CMM.P005_CEngDst_tSens',
  'ENGINE_TEMPERATURES.Oil': 'Dat_CMM.P011_Oil_tSwmp',
  'ENGINE_TEMPERATURES.IntakeAir': 'Dat_CMM.P158_Air_tAFS',
  'ANTILOCK.Intervenes': 'Dat_ABR.P351_Com_bABSIntvActv',
  'TOTALS.Mileage': 'DAT4_BSI_AEE2010.P015_Com_lTotDst',
  'OCCUPANTS.BuckleDriver': 'RESTRAINTS.DRIVER_SEATBELT',
  'SURROUNDINGS.OutsideTemperature': 'Contexte1_5B2.P146_Com_tEnvT',
};

/**
 * Own signals with signals of the shared collection that AEE2004 has at the same place: file, first signal, last
 * signal.
 */
const sameAsBefore: Readonly<Record<string, readonly [file: string, first: string, last?: string]>> = {
  'BODY_STATE.DoorRearLeft': ['HS.IS/412', 'REAR_LEFT_DOOR'],
  'BODY_STATE.DoorRearRight': ['HS.IS/412', 'REAR_RIGHT_DOOR'],
  'BODY_STATE.Boot': ['HS.IS/412', 'TRUNK_STATE'],
  'CAR_STATE.ContactAndEngine': ['LS.CONF/0F6', 'MAIN_STATUS', 'POWERTRAIN_STATUS'],
  'CAR_STATE.Coolant': ['LS.CONF/0F6', 'COOLANT_TEMPERATURE'],
  'CAR_STATE.Mileage': ['LS.CONF/0F6', 'ODOMETER'],
  'CAR_STATE.OutsideTemperature': ['LS.CONF/0F6', 'EXTERNAL_FILTERED_TEMPERATURE'],
  'CAR_STATE.TurnSignal': ['LS.CONF/0F6', 'BLINKERS_STATUS'],
  'CAR_STATE.FrontWiper': ['LS.CONF/0F6', 'FRONT_WIPERS_STATUS'],
  'LEVELS.OilTemperature': ['LS.CONF/161', 'OIL_TEMPERATURE'],
  'LEVELS.Fuel': ['LS.CONF/161', 'FUEL_LEVEL'],
  'LEVELS.Oil': ['LS.CONF/161', 'OIL_LEVEL'],
  'TRIP_COMPUTER.Consumption': ['LS.CONF/221', 'INSTANT_CONSUMPTION'],
  'TRIP_COMPUTER.Range': ['LS.CONF/221', 'AUTONOMY'],
};

/** Signals that no shared description contains. */
const unchecked = /^(BODY_STATE\.(RearWindow|Roof)|CLUSTER\..*|PREFERENCES\..*)$/;

/** Splits `MESSAGE.Signal` for the decoder. */
function wanted(name: string): WantedSignal {
  const [message, signal] = name.split('.') as [string, string];
  return { message, signal };
}

/** A signal in the collection: its place, and physical value = raw × resolution + offset. */
interface CollectedSignal {
  readonly bits: string;
  readonly resolution?: number | null;
  readonly offset?: number | null;
}

describe('the layout of the profile', () => {
  test('has every signal at its known place with its known scale', () => {
    const described = BUSES.flatMap((bus) =>
      description(bus).messages.flatMap(({ id, symbol, signals }) =>
        signals.map(({ symbol: signal, byteOrder, type, start, length, factor, offset }) => {
          const first = (start & ~7) + 7 - (start & 7);
          return [`${symbol}.${signal}`, { id, byteOrder, type, first, length, factor, offset }] as const;
        }),
      ),
    );
    const known = Object.entries(psaPlaces).map(([name, { id, bits, factor, offset }]) => {
      const [first, last] = bitsOf(bits);
      return [
        name,
        { id, byteOrder: 'big', type: 'unsigned', first, length: last - first + 1, factor, offset },
      ] as const;
    });
    expect(new Map(described)).toEqual(new Map(known));
  });

  test.each(BUSES)('%s: decoded values equal those read bit by bit, for any frame', (bus) => {
    const database = description(bus);
    const names = signalsOf(database);
    const decoder = new DbcDecoder(names.map(wanted), [{ database }], ['can']);
    expect(decoder.problems).toEqual([]);
    const next = chance(names.length);
    const seen = new Map(names.map((name) => [name, new Set<number>()]));
    const recorder = new Recorder();
    for (const { id, length } of database.messages) {
      for (let run = 0; run < 40; run++) {
        const data = Uint8Array.from({ length }, next);
        const text = Array.from(data, (byte) => byte.toString(2).padStart(8, '0')).join('');
        decoder.decode(batchOf([{ id, data }]), recorder);
        const found = new Map<string | undefined, { readonly value: number; readonly raw: number }>();
        for (const one of recorder.deliveries.splice(0)) if ('signal' in one) found.set(names[one.signal], one);
        const told = names.filter((name) => psaPlaces[name]?.id === id);
        expect([...found.keys()].sort()).toEqual([...told].sort());
        for (const name of told) {
          const { bits, factor, offset } = psaPlaces[name]!;
          const [from, to] = bitsOf(bits);
          const raw = Number.parseInt(text.slice(from, to + 1), 2);
          expect(found.get(name)?.raw, `${name} of ${text}`).toBe(raw);
          expect(found.get(name)?.value, `${name} of ${text}`).toBeCloseTo(raw * factor + offset, 9);
          seen.get(name)?.add(raw);
        }
      }
    }
    for (const [name, raws] of seen) expect(raws.size, name).toBeGreaterThanOrEqual(2);
  });
});

describeShared('the descriptions of others', () => {
  test('every signal of the profile is in one of them, or in the list of exceptions', () => {
    const left = BUSES.flatMap((bus) => signalsOf(description(bus))).filter(
      (name) => !(name in sameBits) && !(name in sameAsBefore),
    );
    for (const name of left) expect(unchecked.test(name), name).toBe(true);
  });

  test('the network of the same car: equal frames yield equal values', () => {
    const file = join(sharedData, 'dbc/opendbc/psa_aee2010_r3.repaired.dbc');
    const theirs = parseDbc(readFileSync(file), file).database;
    const golden = readFileSync(join(sharedData, 'golden/decode/opendbc__psa_aee2010_r3.repaired.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; data: string });
    const batch = batchOf(golden.map(({ id, data }) => ({ id, data: bytes(data) })));
    const names = Object.keys(sameBits);
    const readings = (database: Database, signals: readonly string[]) => {
      const decoder = new DbcDecoder(signals.map(wanted), [{ database }], ['can']);
      expect(decoder.problems).toEqual([]);
      const recorder = new Recorder();
      decoder.decode(batch, recorder);
      const found = new Map<string, { value: number; raw: number }[]>(names.map((name) => [name, []]));
      for (const one of recorder.deliveries) {
        if ('signal' in one) found.get(names[one.signal]!)!.push({ value: one.value, raw: one.raw });
      }
      return found;
    };
    const own = readings(description('inter-systems'), names);
    const other = readings(theirs, Object.values(sameBits));
    for (const name of names) {
      expect(own.get(name), name).toEqual(other.get(name));
      expect(new Set(own.get(name)!.map(({ raw }) => raw)).size, name).toBeGreaterThanOrEqual(2);
    }
  });

  test('the predecessor: equal places, scales and offsets', () => {
    const signals = new Map(
      BUSES.flatMap((bus) =>
        description(bus).messages.flatMap((message) =>
          message.signals.map(
            (signal) => [`${message.symbol}.${signal.symbol}` as string, { message, signal }] as const,
          ),
        ),
      ),
    );
    for (const [name, [file, first, last = first]] of Object.entries(sameAsBefore)) {
      const path = join(sharedData, 'psa-re/buses/AEE2004.full', `${file}.yml`);
      const frame = parse(readFileSync(path, 'utf8')) as { id: number; signals: Record<string, CollectedSignal> };
      const { message, signal } = signals.get(name)!;
      const [from] = bitsOf(frame.signals[first]!.bits);
      const [, to] = bitsOf(frame.signals[last]!.bits);
      const { resolution, offset } = frame.signals[first]!;
      expect(message.id, name).toBe(frame.id);
      expect(signal.byteOrder, name).toBe('big');
      expect((signal.start & ~7) + 7 - (signal.start & 7), name).toBe(from);
      expect([signal.length, signal.factor, signal.offset], name).toEqual([
        to - from + 1,
        resolution ?? 1,
        offset ?? 0,
      ]);
    }
  });
});
