import { expect, test } from 'vitest';
import { memoryOutboxStore } from '../../adapters/store/index.ts';
import { BenchReceiver } from '../../commands/bench-receiver.ts';
import { classOf } from '../../protocol/classes.ts';
import { upTopic } from '../../protocol/topics.ts';
import { ONE, OTHER, payloadOf, trip } from '../hub/messages.ts';

const RECORDS = classOf('trip');

/** A receiver for a car that has created records 0 to 3 by then. Records 1 and 3 still wait. */
function begun() {
  const store = memoryOutboxStore();
  for (const seq of [0, 1, 2, 3]) {
    store.append({ class: RECORDS, seq, kind: 'trip', at: 0, retain: false, payload: new Uint8Array(1) });
  }
  store.acknowledge(RECORDS, 0);
  store.acknowledge(RECORDS, 2);
  const receiver = new BenchReceiver(ONE, store);
  const take = (boot: number, seq: number, offset: number, vin = ONE): void => {
    receiver.take(upTopic(vin, 'trip'), payloadOf('trip', trip(`${boot}-${seq}`), { seq, boot, offset }));
  };
  return { take, records: () => receiver.report().classes[RECORDS] };
}

test('a waiting number counts as missing once a higher number is known, until it arrives', () => {
  const { take, records } = begun();
  expect(records()).toMatchObject({ arrived: 0, below: 3, missing: 1 });
  take(7, 1, 1);
  take(7, 3, 3);
  expect(records()).toMatchObject({ arrived: 2, again: 0, below: 4, missing: 0 });
});

test('a number that never arrived is missing after an agent restart, and a repeated one counts once', () => {
  const { take, records } = begun();
  take(7, 1, 1);
  take(7, 3, 3);
  take(7, 4, 4);
  take(7, 4, 4);
  take(8, 6, 1);
  expect(records()).toMatchObject({ arrived: 4, again: 1, below: 7, missing: 1 });
  take(8, 5, 0);
  expect(records()).toMatchObject({ arrived: 5, again: 1, below: 7, missing: 0 });
});

test('messages of other cars and messages to the car do not count', () => {
  const { take, records } = begun();
  take(7, 9, 9, OTHER);
  expect(records()).toMatchObject({ arrived: 0, missing: 1 });
});
