import { describe, expect, it } from 'vitest';
import { bytesOf, hexOf } from '../../../../adapters/obd/hex.ts';
import { ObdDecoder } from '../../../../adapters/obd/index.ts';
import {
  discoverUnits,
  freezeFrameSet,
  readCodesByStatus,
  readDataByIdentifier,
  readMonitorStatus,
  readMonitorTests,
  readStoredCodes,
  readVehicleInformation,
  scalingOf,
  unitAddress,
} from '../../../../adapters/obd/j1979/index.ts';
import type { DiagnosticRequester } from '../../../../adapters/obd/requester.ts';
import { standard } from '../standard.ts';

const hex = (text: string) => bytesOf(text.replaceAll(' ', '')) as Uint8Array;

/** Answers by request, each as `identifier:bytes`. */
function car(table: Readonly<Record<string, readonly string[]>>): DiagnosticRequester & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async request({ address, payload }) {
      const key = `${address.request.toString(16).toUpperCase()} ${hexOf(payload)}`;
      asked.push(key);
      return (table[key] ?? []).map((answer) => {
        const [id = '', bytes = ''] = answer.split(':');
        return { id: Number.parseInt(id, 16), payload: hex(bytes) };
      });
    },
  };
}

describe('discovery', () => {
  it('reads the lists of every unit with 11-bit identifiers', async () => {
    const requester = car({
      '7DF 0100': ['7E8:4100 08180001', '7E9:4100 00180000'],
      '7DF 0120': ['7E8:4120 00000000', '7E9:7F0112'],
    });
    const units = await discoverUnits(requester);
    expect(units.map(({ id, parameters }) => [id, [...parameters]])).toEqual([
      [0x7e8, [0x05, 0x0c, 0x0d]],
      [0x7e9, [0x0c, 0x0d]],
    ]);
    expect(units[1]?.address).toEqual({ request: 0x7e1, extended: false, response: 0x7e9 });
    expect(requester.asked).toEqual(['7DF 0100', '7DF 0120']);
  });

  it('tries 29-bit identifiers if no unit answers 11-bit ones', async () => {
    const requester = car({ '18DB33F1 0900': ['18DAF110:4900 54000000'] });
    const [unit] = await discoverUnits(requester, 0x09);
    expect(unit?.address).toEqual({ request: 0x18da10f1, extended: true, response: 0x18daf110 });
    expect([...(unit?.parameters ?? [])]).toEqual([2, 4, 6]);
  });

  it('reads the lists for freeze frames', async () => {
    const [unit] = await discoverUnits(car({ '7DF 020000': ['7E8:420000 58180000'] }), 0x02);
    expect([...(unit?.parameters ?? [])]).toEqual([2, 4, 5, 12, 13]);
  });

  it('finds no unit in a car that is off', async () => {
    expect(await discoverUnits(car({}))).toEqual([]);
  });

  it('assumes that a unit with an invalid list supports everything', async () => {
    const [unit] = await discoverUnits(car({ '7DF 0100': ['7E8:4100 0818'] }));
    expect(unit?.parameters.size).toBe(31);
  });
});

describe('diagnosis', () => {
  it('reads the lamp and the number of codes', async () => {
    const requester = car({ '7DF 0101': ['7E8:4101 83 07 E5 00', '7E9:4101 00 00 00 00', '7EA:7F0112'] });
    expect(await readMonitorStatus(requester)).toEqual([
      { unit: 0x7e8, lamp: true, codes: 3 },
      { unit: 0x7e9, lamp: false, codes: 0 },
    ]);
  });

  it('reads VIN, names and calibrations of units', async () => {
    const text = (word: string, size: number) => hexOf(new TextEncoder().encode(word)).padEnd(2 * size, '0');
    const requester = car({
      '7DF 0902': [`7E8:490201${text('VF3CC5FS0GT000001', 17)}`],
      '7DF 090A': [`7E8:490A01${text('ECM\0-EngineControl', 20)}`, `7E9:490A01${text('TCM', 20)}`],
      '7DF 0904': [`7E8:490402${text('CAL-1', 16)}${text('CAL-2', 16)}`, '7E9:4904FF'],
      '7DF 0906': ['7E8:490602 1122334455667788'],
    });
    expect(await readVehicleInformation(requester)).toEqual([
      {
        unit: 0x7e8,
        vin: 'VF3CC5FS0GT000001',
        name: 'ECM-EngineControl',
        calibrations: ['CAL-1', 'CAL-2'],
        verificationNumbers: ['11223344', '55667788'],
      },
      { unit: 0x7e9, name: 'TCM' },
    ]);
  });

  it('reads the stored, pending and permanent codes', async () => {
    const requester = car({
      '7DF 03': ['7E8:4302 0301 0420', '7E9:4300'],
      '7DF 07': ['7E8:4701 C100'],
      '7DF 0A': ['7E8:7F0A11'],
    });
    const codes = await readStoredCodes(requester);
    expect(
      codes.map(({ unit, confirmed, pending, permanent }) => [
        unit,
        confirmed.map(({ code }) => code),
        pending.map(({ code }) => code),
        permanent,
      ]),
    ).toEqual([
      [0x7e8, ['P0301', 'P0420'], ['U0100'], []],
      [0x7e9, [], [], []],
    ]);
  });

  it('sends UDS requests to one unit', async () => {
    const requester = car({
      '7E0 22F190': ['7E8:62F190 5646'],
      '7E0 190208': ['7E8:5902FF 030100 2F'],
      '7E0 22FFFF': ['7E8:7F2231'],
    });
    const engine = unitAddress(0x7e8, false);
    expect(hexOf(await readDataByIdentifier(requester, engine, 0xf190))).toBe('5646');
    expect((await readCodesByStatus(requester, engine)).codes.map(({ code }) => code)).toEqual(['P0301-00']);
    await expect(readDataByIdentifier(requester, engine, 0xffff)).rejects.toThrow(/request out of range/);
    await expect(readDataByIdentifier(requester, engine, 1)).rejects.toMatchObject({ code: 'input.unreadable' });
  });
});

describe('monitor tests', () => {
  it('are scaled by their scaling identifier', () => {
    expect(readMonitorTests(hex('46 01 01 0A 0E03 0000 FFFF 21 84 96 FFF6 FF9C 0064'))).toEqual([
      {
        monitor: 1,
        name: 'oxygen sensor 1 of bank 1',
        test: 1,
        unitId: 0x0a,
        unit: 'V',
        value: 3587 * 0.000122,
        minimum: 0,
        maximum: 65535 * 0.000122,
        passed: true,
      },
      {
        monitor: 0x21,
        name: 'catalyst, bank 1',
        test: 0x84,
        unitId: 0x96,
        unit: '°C',
        value: -1,
        minimum: -10,
        maximum: 10,
        passed: true,
      },
    ]);
    expect(readMonitorTests(hex('46 A3 0B 24 0005 0000 0004'))[0]).toMatchObject({
      name: 'misfire, cylinder 2',
      value: 5,
      passed: false,
    });
  });

  it('are raw if the scaling identifier is unknown', () => {
    expect(scalingOf(0x7f)).toBeUndefined();
    expect(readMonitorTests(hex('46 E1 01 7F 0005 0000 0009'))[0]).toMatchObject({
      name: 'monitor E1',
      unit: '',
      value: 5,
      maximum: 9,
    });
  });

  it('must be complete', () => {
    expect(() => readMonitorTests(hex('46 01 01 0A 0E03 0000 FF'))).toThrow(/results have 9 each/);
    expect(() => readMonitorTests(hex('46'))).toThrow(/results have 9/);
    expect(() => readMonitorTests(hex('41 01'))).toThrow(/not an answer to service 06/);
  });
});

describe('the shipped signal sets', () => {
  const current = standard();

  it('have unique signal names, and decode their own example', () => {
    const ids = [...current.commands, ...standard('sae-j1979-09.json').commands].flatMap(({ signals }) =>
      signals.map(({ id }) => id),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(current.diagnostics).toEqual([]);
    expect(new ObdDecoder([current]).decode({ response: '7E8 04 41 0C 1A F8' }).values).toEqual({
      EngineSpeed: 1726,
      EngineRunning: 1,
    });
  });

  it('have ranges equal to those of their bits', () => {
    for (const { parameter, signals } of current.commands) {
      for (const { id, format } of signals) {
        if (format.map !== undefined || id === 'EngineRunning') continue;
        const { len, sign, mul, div, add } = format;
        const lowest = ((sign ? -(2 ** (len - 1)) : 0) * mul) / div + add;
        const highest = ((2 ** (sign ? len - 1 : len) - 1) * mul) / div + add;
        expect(format.min ?? 0, `${parameter} ${id}`).toBeCloseTo(lowest, 5);
        expect(format.max, `${parameter} ${id}`).toBeCloseTo(highest, 5);
      }
    }
  });

  it('prefix the names of signals in freeze frames', () => {
    const frozen = freezeFrameSet(current);
    expect(frozen.commands.some(({ parameter }) => parameter === '0100')).toBe(false);
    expect(new ObdDecoder([frozen]).decode({ response: '7E8 05 42 0C 00 1A F8' }).values).toMatchObject({
      FreezeEngineSpeed: 1726,
    });
    expect(frozen.commands.find(({ parameter }) => parameter === '0C00')?.id).toBe('7DF.020C00');
  });
});
