import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { kinds } from '../../../protocol/schema/kind.ts';
import {
  catalogTopic,
  downFilter,
  downKind,
  downKinds,
  downTopic,
  isVin,
  parseTopic,
  presenceTopic,
  upFilter,
  upKind,
  upTopic,
} from '../../../protocol/topics.ts';

const vin = 'VF3ABCDEFGH123456';
const vins = fc.string({ unit: fc.constantFrom(...'ABCDEFGHJKLMNPRSTUVWXYZ0123456789'), minLength: 17, maxLength: 17 });

describe('topics', () => {
  test('have the documented form', () => {
    expect(upTopic(vin, 'status')).toBe(`vigie/1/${vin}/up/status`);
    expect(downTopic(vin, 'remote')).toBe(`vigie/1/${vin}/down/remote`);
    expect(presenceTopic(vin)).toBe(`vigie/1/${vin}/presence`);
    expect(downFilter(vin)).toBe(`vigie/1/${vin}/down/+`);
    expect(upFilter(vin)).toBe(`vigie/1/${vin}/up/+`);
    expect(upFilter()).toBe('vigie/1/+/up/+');
  });

  test('are parsed as they were built', () => {
    fc.assert(
      fc.property(vins, fc.constantFrom(...kinds), fc.constantFrom(...downKinds), (vin, up, down) => {
        expect(parseTopic(upTopic(vin, up))).toEqual({ vin, direction: 'up', kind: up });
        expect(parseTopic(downTopic(vin, down))).toEqual({ vin, direction: 'down', kind: down });
        expect(parseTopic(presenceTopic(vin))).toEqual({ vin, direction: 'presence' });
        expect(downKind(vin, downTopic(vin, down))).toBe(down);
      }),
    );
  });

  test('exist for each part of a catalog, and a subscription to all messages includes them', () => {
    const topic = catalogTopic(vin, '0123456789abcdef', 12);
    expect(topic).toBe(`vigie/1/${vin}/up/catalog-0123456789abcdef-12`);
    expect(parseTopic(topic)).toEqual({ vin, direction: 'up', kind: 'catalog' });
    expect([upKind(topic), upKind(upTopic(vin, 'trip')), upKind(presenceTopic(vin))]).toEqual([
      'catalog',
      'trip',
      'presence',
    ]);
    for (const other of [
      'catalog-',
      'catalog-0123456789abcdef',
      'catalog-0123456789ABCDEF-0',
      'status-0123456789abcdef-0',
    ]) {
      expect(parseTopic(`vigie/1/${vin}/up/${other}`)).toBeUndefined();
    }
  });

  test.each([
    '',
    'vigie/1',
    'vigie/2/VF3ABCDEFGH123456/up/status',
    `vigie/1/${vin}`,
    `vigie/1/${vin}/up`,
    `vigie/1/${vin}/up/`,
    `vigie/1/${vin}/up/weather`,
    `vigie/1/${vin}/up/status/more`,
    `vigie/1/${vin}/down/status`,
    `vigie/1/${vin}/down/toString`,
    `vigie/1/${vin}/presence/`,
    `vigie/1/${vin}/sideways/status`,
    'vigie/1/VF3ABCDEFGH12345O/up/status',
    `/vigie/1/${vin}/up/status`,
    `vigie/1/${vin}\n/up/status`,
  ])('exclude %j', (topic) => {
    expect(parseTopic(topic)).toBeUndefined();
    expect(downKind(vin, topic)).toBeUndefined();
  });

  test('for another car are ignored', () => {
    expect(downKind(vin, downTopic('VF3ABCDEFGH123457', 'remote'))).toBeUndefined();
    expect(downKind(vin, upTopic(vin, 'remote'))).toBeUndefined();
  });

  test.each([
    '',
    '+',
    '#',
    'VF3ABCDEFGH12345',
    'VF3ABCDEFGH1234567',
    'vf3abcdefgh123456',
    'VF3ABCDEFGI123456',
    `${vin}\n`,
  ])('cannot be built for %j, which is not a VIN', (text) => {
    expect(isVin(text)).toBe(false);
    for (const make of [presenceTopic, downFilter, upFilter, (vin: string) => upTopic(vin, 'status')]) {
      expect(() => make(text)).toThrowError(
        expect.objectContaining({ code: 'input.malformed', message: expect.stringContaining('VIN') }),
      );
    }
  });
});
