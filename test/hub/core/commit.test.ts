/** Changes of one commit, which are the same for every database. */
import { expect, test } from 'vitest';
import { changesOf, numberChangesOf, type PlacedMessage } from '../../../hub/core/commit.ts';
import { ClassNumbers } from '../../../hub/core/numbers.ts';
import type { Body, BodyKind } from '../../../protocol/schema/message.ts';
import { type MessageOptions, NOON, received, trip } from '../messages.ts';

const HELLO: Body<'hello'> = { version: '1', protocol: 1, boot: 1, profile: 'bench', startedAt: NOON };

let rows = 0;
function placed<K extends BodyKind>(kind: K, body: Body<K>, options: MessageOptions & { vehicle?: number } = {}) {
  rows += 1;
  return { ...received(kind, body, options), vehicle: options.vehicle ?? 1, row: rows } satisfies PlacedMessage;
}

test('the newest message of a record wins, whatever the order of arrival', () => {
  const [begin, end] = [placed('trip', trip('a1'), { seq: 4 }), placed('trip', trip('a1'), { seq: 9 })];
  const other = placed('trip', trip('a1'), { seq: 5, vehicle: 2 });
  const newest = ({ records }: ReturnType<typeof changesOf>) => records.map(({ one }) => one.row);
  expect(newest(changesOf([begin, end, other]))).toEqual([end.row, other.row]);
  expect(newest(changesOf([end, begin, other]))).toEqual([end.row, other.row]);
});

test('a retained message does not count as a sign of life from the car', () => {
  const first = placed('hello', HELLO, { seq: 1, received: NOON });
  const kept = { ...placed('hello', HELLO, { seq: 2, received: NOON + 9 }), retained: true as const };
  expect([...changesOf([first, kept]).heard]).toEqual([[1, NOON]]);
});

test('a hello with a clock correction corrects the time of its start', () => {
  const hello = placed('hello', { ...HELLO, behind: 1_500 }, { boot: 7 });
  expect(changesOf([hello]).corrections).toEqual([{ vehicle: 1, boot: 7, by: 1_500 }]);
});

test('a message reports its own number and the numbers that the car gave up', () => {
  const gap = placed('gap', { class: 2, count: 3, numbers: [[3, 5]] }, { seq: 8 });
  expect(numberChangesOf(gap).map((change) => change.class)).toEqual([gap.class, 2]);
  const numbers = new ClassNumbers();
  numberChangesOf(gap)[1]?.apply(numbers);
  expect(numbers.report.givenUp).toEqual([[3, 5]]);
});
