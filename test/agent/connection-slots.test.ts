import { expect, test } from 'vitest';
import { ConnectionSlots, slotNetworkOf } from '../../agent/connection-slots.ts';

const limits = { all: 6, waiting: 4, waitingPerAddress: 2, keptPerAddress: 1 };

test('an address with too many waiting connections loses its oldest one, and no other address does', () => {
  const slots = new ConnectionSlots<string>(limits);
  expect(slots.add('other', '192.0.2.1')).toBeUndefined();
  for (const name of ['one', 'two']) expect(slots.add(name, '198.51.100.7')).toBeUndefined();
  expect(slots.add('three', '198.51.100.7')).toBe('one');
  expect(slots.size).toBe(3);
});

test('when all waiting slots are taken, the address with the most connections loses its oldest one', () => {
  const slots = new ConnectionSlots<string>(limits);
  slots.add('first', '192.0.2.1');
  slots.add('second', '192.0.2.2');
  slots.add('third', '192.0.2.3');
  slots.add('fourth', '192.0.2.3');
  expect(slots.add('fifth', '192.0.2.4')).toBe('third');
});

test('a new connection is closed if each address has only its reserved slots', () => {
  const slots = new ConnectionSlots<string>(limits);
  for (const n of [1, 2, 3, 4]) slots.add(`${n}`, `192.0.2.${n}`);
  expect(slots.add('5', '192.0.2.5')).toBe('5');
  slots.delete('2');
  expect(slots.add('6', '192.0.2.6')).toBeUndefined();
});

test('the connection of an authenticated client is never closed for another', () => {
  const slots = new ConnectionSlots<string>(limits);
  for (const n of [1, 2, 3, 4, 5, 6]) {
    expect(slots.add(`car ${n}`, `192.0.2.${n}`)).toBeUndefined();
    slots.admit(`car ${n}`);
  }
  expect(slots.add('idle', '198.51.100.7')).toBe('idle');
  slots.wait('car 3');
  slots.wait('car 4');
  expect(slots.add('car 7', '192.0.2.4')).toBe('car 4');
});

test('local clients may use all waiting slots, because one proxy serves many clients', () => {
  const slots = new ConnectionSlots<number>({ ...limits, keptPerAddress: 0 });
  for (const n of [1, 2, 3, 4]) expect(slots.add(n, n % 2 === 0 ? '127.0.0.1' : '::1')).toBeUndefined();
  expect(slots.add(5, '::ffff:127.0.0.1')).toBe(1);
});

test.each([
  ['2001:db8:0:7:1::1', '2001:db8:0:7::/64'],
  ['2001:0DB8::7:0:0:1', '2001:db8:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.1'],
  ['127.8.0.1', 'local'],
  ['::1', 'local'],
  [undefined, 'local'],
])('%s counts as %s', (address, network) => {
  expect(slotNetworkOf(address)).toBe(network);
});
