/** Moves the agent of a bench to a separate process. The page, the broker and the simulated car stay in the bench. */

import type { BenchControls } from '../adapters/http/own-routes.ts';
import type { Clock, Log } from '../agent/ports.ts';
import type { LanServing } from '../assembly/interface.ts';
import { reportOutbox } from '../assembly/own-outbox.ts';
import { defined } from '../protocol/defined.ts';
import type { BenchReportEvent } from '../protocol/interface/own/outbox.ts';
import type { BenchCar } from './bench-car.ts';
import { startFront } from './bench-front.ts';
import { AgentProcess } from './bench-process.ts';
import { BenchReceiver } from './bench-receiver.ts';
import type { BenchReport, Told } from './bench-report.ts';
import type { AgentOrder } from './bench-words.ts';

export interface MoveOptions {
  readonly car: BenchCar;
  readonly order: Omit<AgentOrder, 'buses'>;
  readonly bench: BenchControls;
  readonly lan?: LanServing | undefined;
  /** Sets the function that the broker calls with a message before acknowledging it. Omitted for external brokers. */
  readonly receive?: ((take: BenchReceiver['take']) => void) | undefined;
  readonly report: Pick<BenchReport, 'published' | 'tell'>;
  readonly say: (line: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface MovedAgent {
  report(): Pick<BenchReportEvent, 'process' | 'pid' | 'received'>;
  turn(wanted: boolean): Promise<void>;
  /** Requests a report on car and link. */
  ask(): void;
  stop(): Promise<void>;
}

/** Moves the agent. Rejects if another program took the page's port meanwhile, or if the agent does not start. */
export async function moveAgent(options: MoveOptions): Promise<MovedAgent> {
  const { car, lan, bench, report, say, clock, log } = options;
  const { cable, outbox } = car;
  const port = Number(new URL(car.interface?.url ?? '').port);
  await car.stopAgent();
  const receiver = options.receive === undefined ? undefined : new BenchReceiver(options.order.vin, outbox);
  if (receiver !== undefined) options.receive?.((topic, payload) => receiver.take(topic, payload));
  const agent = new AgentProcess({
    order: { ...options.order, buses: cable.buses },
    cable,
    outbox: reportOutbox(outbox),
    published: (topic, payload) => report.published(topic, payload),
    told: (told: Told) => report.tell(told),
  });
  const turn = async (wanted: boolean): Promise<void> => {
    const { pid } = agent;
    if (wanted === (pid !== undefined)) return;
    if (wanted) await agent.start();
    else await agent.kill();
    say(
      wanted ? `the agent runs in a process of its own: ${agent.pid}` : `the process of the agent was killed: ${pid}`,
    );
  };
  await cable.start((batch) => agent.frames(batch));
  const front = await startFront({
    port,
    lan,
    tiles: options.order.tiles?.url,
    agent,
    outbox: () => agent.outbox,
    bench,
    clock,
    log,
  });
  await turn(true);
  return {
    report: () => ({
      process: agent.port !== undefined ? 'runs' : agent.pid !== undefined ? 'starts' : 'ended',
      ...defined({ pid: agent.pid }),
      ...(receiver === undefined ? {} : { received: receiver.report() }),
    }),
    turn,
    ask: () => agent.ask('status'),
    stop: async () => {
      await front.stop();
      await agent.stop();
    },
  };
}
