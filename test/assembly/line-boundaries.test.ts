/**
 * Random faults behind the lines of a car, while adapters and GNSS receivers send garbage and hang up: each fault ends
 * only its line, which is reopened. A fault that crosses its boundary ends this run as an unhandled error.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { SlcanConversation } from '../../adapters/can/slcan/conversation.ts';
import { FrameIntake } from '../../adapters/can/slcan/intake.ts';
import { LineSplitter } from '../../adapters/can/slcan/splitter.ts';
import { GpsdParser } from '../../adapters/gnss/gpsd.ts';
import { FixReadings } from '../../adapters/gnss/readings.ts';
import { Adapter } from '../../adapters/obd/elm327/adapter.ts';
import { Conversation } from '../../adapters/obd/elm327/conversation.ts';
import { slcan } from '../../assembly/library/can.ts';
import { gpsd } from '../../assembly/library/gnss.ts';
import { createAgent } from '../../assembly/library/index.ts';
import { elm327 } from '../../assembly/library/obd.ts';
import { FarEnd } from '../adapters/lines/server.ts';
import { Faults } from '../rig/faults.ts';
import { ImpatientClock } from '../rig/impatient-clock.ts';
import { runs } from '../rig/runs.ts';
import '../rig/seed.ts';

const TPV = '{"class":"TPV","mode":3,"time":"2026-01-01T12:00:00Z","lat":48.5,"lon":2.25}\r\n';
/** Speed of the bench car, 42 km/h. */
const FRAME = 't1008000000000000002A\r';

const step = fc.record({
  line: fc.nat(2),
  text: fc.oneof(
    fc.constantFrom('', '\r', '>', '?\r>', 'OK\r>', 'ELM327 v1.5\r\r>', '41 0D 32\r\r>', 'V1013\r', '\x07', FRAME),
    fc.constantFrom(TPV, '{"class":"SKY","uSat":8}\r\n', '{"class":"DEVICES","devices":[{"path":"/dev/ttyACM0"}]}\r\n'),
    fc.string({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
});

/** Resolves when the line has been reopened, so that all earlier data has been read. */
async function hangUp(end: FarEnd): Promise<void> {
  const before = end.connections;
  end.hangUp();
  await end.until(() => end.connections > before && end.open > 0);
}

test('a car reopens lines after garbage, hang-ups and random faults in its readers, and continues reading', async () => {
  const faults = new Faults(
    [FrameIntake, SlcanConversation, LineSplitter, GpsdParser, FixReadings, Adapter, Conversation],
    ['end', 'close'],
  );
  const ends = await Promise.all([FarEnd.listen(), FarEnd.listen(), FarEnd.listen()]);
  const [bus, receiver, adapter] = ends as [FarEnd, FarEnd, FarEnd];
  const address = ({ port }: FarEnd): string => `tcp://127.0.0.1:${port}`;
  const sourcesByProfile = {
    bench: [slcan(address(bus), { bus: 'body' })],
    'generic-obd2': [gpsd(address(receiver)), elm327(address(adapter))],
  };
  const agents = await Promise.all(
    Object.entries(sourcesByProfile).map(([profile, sources]) =>
      createAgent({ vin: 'VF3VGEBENCH000001', profile, sources, clock: new ImpatientClock() }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(agents.map((agent) => agent.stop()));
    await Promise.all(ends.map((end) => end.close()));
  });
  for (const agent of agents) await agent.start();
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(step, { minLength: 12, maxLength: 40 }), async (seed, steps) => {
      faults.seed(seed);
      faults.active = true;
      for (const { line, text } of steps) {
        const end = ends[line] as FarEnd;
        await end.until(() => end.open > 0);
        end.say(text);
      }
      await Promise.all(ends.map(hangUp));
      faults.active = false;
    }),
    { numRuns: runs(40, 200) },
  );
  expect(faults.thrown).toBeGreaterThan(40);
  await Promise.all(ends.map(hangUp));
  receiver.say(TPV);
  await expect.poll(() => agents[1]?.status.get('lastPosition.latitude')).toBe(48.5);
});
