import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../../adapters/mqtt/address.ts';
import { matches } from '../../../adapters/mqtt/filter.ts';
import { MqttLink } from '../../../adapters/mqtt/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { vin } from '../../rig/car.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('broker URLs', () => {
  it.each([
    ['mqtt://broker', 'broker', 1883, false, 'mqtt://broker:1883'],
    ['mqtts://broker/', 'broker', 8883, true, 'mqtts://broker:8883'],
    ['tcp://10.0.0.1:99', '10.0.0.1', 99, false, 'mqtt://10.0.0.1:99'],
    ['ssl://b.example:1', 'b.example', 1, true, 'mqtts://b.example:1'],
    ['tls://b.example', 'b.example', 8883, true, 'mqtts://b.example:8883'],
    ['mqtt://[::1]:1884', '::1', 1884, false, 'mqtt://[::1]:1884'],
  ])('parses %s', (url, host, port, secure, text) => {
    expect(parseAddress(url)).toEqual({ host, port, secure, text });
  });

  it.each([
    '',
    'broker',
    'broker:1883',
    'http://broker',
    'mqtt://',
    'mqtt://b:0',
    'mqtt://b:70000',
    'mqtt://b/x',
    'ws://b',
  ])('refuses "%s" and shows the right form', (url) => {
    expect(() => parseAddress(url)).toThrow(/mqtt:\/\/host:1883/);
  });

  it('omits the password from errors', () => {
    for (const url of ['mqtt://me:secret@broker', 'mqtt://me:secret@broker:x', 'mqtt://me:sec@ret@b']) {
      expect(faultOf(() => parseAddress(url))).toMatch(/^the broker URL "mqtt:\/\/…@b[^@]*$/);
    }
  });
});

function faultOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof VigieError) return error.message;
    throw error;
  }
  return '';
}

describe('options of a link', () => {
  it.each([
    [{ url: [] }, /no broker URL/],
    [{ url: 'mqtt://b', tls: {} }, /mqtt:\/\/b:1883 is not encrypted/],
    [{ url: ['mqtts://b', 'mqtt://c'], tls: {} }, /mqtt:\/\/c:1883 is not encrypted/],
    [{ url: 'mqtts://b', tls: { cert: new Uint8Array(3), key: new Uint8Array(3) } }, /cert is damaged, or is not PEM/],
    [{ url: 'mqtt://b', keepalive: 0 }, /keepalive is 0; use a whole number from 1 to 65535/],
    [{ url: 'mqtt://b', sessionExpiry: 1.5 }, /sessionExpiry is 1.5/],
    [{ url: 'mqtt://b', window: 0 }, /window is 0/],
    [{ url: 'mqtt://b', maximumPacket: 1 }, /maximumPacket is 1/],
  ])('refuses %j', (options, text) => {
    expect(() => new MqttLink({ vin, log, ...options })).toThrow(text);
    expect(() => new MqttLink({ vin, log, ...options })).toThrow(
      expect.objectContaining({ code: 'configuration.wrong' }),
    );
  });
});

describe('topic filters', () => {
  // Examples from MQTT 5 clauses 4.7.1.2, 4.7.1.3 and 4.7.2.
  it.each([
    ['sport/tennis/player1/#', 'sport/tennis/player1', true],
    ['sport/tennis/player1/#', 'sport/tennis/player1/score/wimbledon', true],
    ['sport/#', 'sport', true],
    ['sport/tennis/+', 'sport/tennis/player1/ranking', false],
    ['sport/+', 'sport', false],
    ['sport/+', 'sport/', true],
    ['+/+', '/finance', true],
    ['/+', '/finance', true],
    ['+', '/finance', false],
    ['#', '$SYS/broker', false],
    ['+/monitor', '$SYS/monitor', false],
    ['$SYS/#', '$SYS/broker', true],
    ['a/b', 'a/B', false],
  ])('%s on %s: %s', (filter, topic, expected) => {
    expect(matches(filter, topic)).toBe(expected);
  });

  it('matches like the equivalent regular expression', () => {
    const level = fc.constantFrom('a', 'b', '');
    const topics = fc.array(level, { minLength: 1, maxLength: 5 }).map((levels) => levels.join('/'));
    const filters = fc
      .tuple(fc.array(fc.oneof(level, fc.constant('+')), { minLength: 1, maxLength: 5 }), fc.boolean())
      .map(([levels, more]) => [...levels, ...(more ? ['#'] : [])].join('/'));
    fc.assert(
      fc.property(filters, topics, (filter, topic) => {
        const pattern = filter.replaceAll('+', '[^/]*').replace(/\/#$/, '(/.*)?');
        expect(matches(filter, topic)).toBe(new RegExp(`^${pattern}$`).test(topic));
      }),
    );
  });
});
