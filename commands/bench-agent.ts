/** `vigie bench --agent`, which only a bench starts: the agent alone, in a process that the user can kill. */
import { SystemClock } from '../adapters/clock/system.ts';
import { StreamLog } from '../adapters/logging/stream.ts';
import type { FrameBatch, FrameSender, FrameSource, OutgoingFrame } from '../agent/ports.ts';
import { channelsOf } from '../assembly/callback-channels.ts';
import type { Car } from '../assembly/car.ts';
import { reportOutbox } from '../assembly/own-outbox.ts';
import { benchVehicle } from '../assembly/simulation.ts';
import { VigieError } from '../protocol/errors.ts';
import { benchCallbacks } from './bench-callbacks.ts';
import { startBenchAgent } from './bench-car.ts';
import { benchExits } from './bench-exits.ts';
import type { AgentOrder, FromAgent, ToAgent } from './bench-words.ts';

/** Longest time in ms from the end of the bench to the end of its agent. */
const LONGEST_END = 15_000;

/** Runs until the bench closes the channel to this process, or crashes. */
export async function benchAgent(): Promise<void> {
  if (process.send === undefined) throw new VigieError('usage.wrong', '--agent is for the bench itself: leave it out');
  // Ctrl-C reaches all processes of a terminal, but the bench must end this one.
  process.on('SIGINT', () => undefined);
  const ended = new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
    process.once('SIGTERM', resolve);
  });
  const cable = new FarCable();
  let car: Car | undefined;
  const ordered = new Promise<AgentOrder>((resolve) => {
    process.on('message', (said: ToAgent) => {
      if ('begin' in said) resolve(said.begin);
      else if ('ask' in said) answer(said.ask, car);
      else cable.hear(said);
    });
  });
  const order = await Promise.race([ordered, ended]);
  if (order === undefined) return;
  try {
    car = await start(order, cable);
  } catch (error) {
    say({ fault: (error as Error).message });
    throw error;
  }
  const { origin, port } = new URL(car.interface?.url ?? '');
  const described = await fetch(`${origin}/vigie/v1/car`);
  say({ ready: Number(port), car: await described.text() });
  await ended;
  setTimeout(() => process.exit(1), LONGEST_END).unref();
  await car.stop();
  // An open channel would keep the process alive after a signal.
  if (process.connected) process.disconnect();
}

function start(
  { vin, data, scenario, trust, mqtt, page, tiles, homeAssistant, log, buses }: AgentOrder,
  cable: FarCable,
): Promise<Car> {
  const clock = new SystemClock();
  cable.buses.push(...buses);
  return startBenchAgent(
    {
      vin,
      vehicle: benchVehicle(scenario),
      data,
      trust,
      mqtt,
      notificationChannels: channelsOf(benchCallbacks(data), () => clock.now()),
      // The bench has the plugs, and answers requests for them before they reach this process.
      http: { local: true, port: 0, url: page, tiles, bench: { report: () => ({}), plug: refuse } },
      ...(homeAssistant && { exits: benchExits(mqtt) }),
      published: (topic, payload) => say({ published: topic, payload }),
      clock,
      log: new StreamLog(process.stderr, log),
    },
    cable,
  );
}

async function refuse(): Promise<never> {
  throw new VigieError('input.malformed', 'the bench has the plugs, not its agent: ask at the address of its page');
}

function answer(what: 'outbox' | 'status', car: Car | undefined): void {
  if (car === undefined) return;
  const { agent, outbox } = car;
  if (what === 'outbox') say({ outbox: reportOutbox(outbox) });
  else say({ status: agent.status.contents(), waiting: agent.waiting });
}

function say(words: FromAgent): void {
  // When the bench has ended, this process ends too.
  if (process.connected) process.send?.(words);
}

/** The end of the cable in this process: it exchanges frames over the channel to the bench. */
class FarCable implements FrameSource, FrameSender {
  readonly buses: string[] = [];
  #receive: ((batch: FrameBatch) => void) | undefined;
  #number = 0;
  readonly #sent = new Map<number, (fault: string | undefined) => void>();

  async start(receive: (batch: FrameBatch) => void): Promise<void> {
    this.#receive = receive;
  }

  async stop(): Promise<void> {
    this.#receive = undefined;
  }

  hear(said: Extract<ToAgent, { readonly batch: FrameBatch } | { readonly sent: number }>): void {
    if ('batch' in said) {
      this.#receive?.(said.batch);
      return;
    }
    this.#sent.get(said.sent)?.(said.fault);
    this.#sent.delete(said.sent);
  }

  send(frame: OutgoingFrame): Promise<void> {
    const number = this.#number++;
    return new Promise((resolve, reject) => {
      this.#sent.set(number, (fault) => {
        if (fault === undefined) resolve();
        else reject(new VigieError('command.actuation', fault));
      });
      say({ send: frame, number });
    });
  }
}
