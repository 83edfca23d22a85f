import type { MessageCodec, OutgoingFrame } from '../../agent/ports.ts';
import { Charger } from './charger.ts';
import { Climate, type ClimateSurroundings } from './climate.ts';
import { Navigator } from './navigator.ts';
import { RequestReceiver } from './requests.ts';
import type { Part, Scene } from './scenario.ts';
import type { CarState } from './state.ts';
import { Switch } from './switch.ts';

/** Reaction times in ms of the lock motors, and of the relays of lamps, horn and immobilizer. */
const TRAVEL = 300;
const RELAY = 100;
/** Durations in ms after which lamps and horn switch off automatically. */
const FLASHING = 30_000;
const SOUNDING = 10_000;
/** Value of the first request of a message with two requests (on, lock); the other request is its opposite. */
const ON = 1;

interface Surroundings extends ClimateSurroundings {
  /** State of the script before and after this step. */
  readonly before: Scene;
  readonly after: Scene;
}

/** The control units of the car that receive requests from the bus. */
export class ControlUnits {
  readonly lock: Switch;
  readonly hazard = new Switch(false, RELAY, FLASHING);
  readonly horn = new Switch(false, RELAY, SOUNDING);
  readonly immobilizer: Switch;
  readonly charger: Charger;
  readonly climate = new Climate();
  readonly navigator: Navigator;
  readonly #receivers: readonly RequestReceiver[];
  readonly #answer: (part: Part) => number | undefined;

  /**
   * @param answer called with each request that a part has accepted; returns the part's delay in ms, or undefined if
   * the part does not obey
   */
  constructor(codec: MessageCodec, state: CarState, answer: (part: Part) => number | undefined) {
    this.#answer = answer;
    this.lock = new Switch(state.locked, TRAVEL);
    this.immobilizer = new Switch(state.immobilized, RELAY);
    this.charger = new Charger({ level: state.chargeLevel, partial: state.chargePartial });
    this.navigator = new Navigator(codec, () => answer('Navigation'));
    const { lock, hazard, horn, immobilizer, charger, climate } = this;
    const two = (message: string, signal: string, part: Part, obey: (request: number, late: number) => void) =>
      new RequestReceiver(codec, { message, signal, highest: 2 }, this.#obeyed(part, obey));
    const onOff = (of: Switch) => (request: number, late: number) => of.request(request === ON, late);
    this.#receivers = [
      two('BODY_COMMAND', 'LockRequest', 'Lock', onOff(lock)),
      two('LIGHT_COMMAND', 'HazardRequest', 'Hazard', onOff(hazard)),
      two('HORN_COMMAND', 'HornRequest', 'Horn', onOff(horn)),
      two('IMMOBILIZER_COMMAND', 'ImmobilizerRequest', 'Immobilizer', onOff(immobilizer)),
      two('CLIMATE_COMMAND', 'PreconditioningRequest', 'Climate', (request, late) => climate.request(request, late)),
      new RequestReceiver(
        codec,
        { message: 'CHARGE_COMMAND', signal: 'ChargeRequest', highest: 9 },
        this.#obeyed('Charger', (request, late) => charger.request(request, late)),
      ),
    ];
  }

  /** Number of accepted requests, including redundant ones, and of frames ignored as invalid. */
  get counts(): { readonly accepted: number; readonly rejected: number } {
    const all = [...this.#receivers, this.navigator];
    return {
      accepted: all.reduce((sum, { accepted }) => sum + accepted, 0),
      rejected: all.reduce((sum, { rejected }) => sum + rejected, 0),
    };
  }

  /** Processes a frame from the bus at monotonic time `at` in ms. */
  receive(frame: OutgoingFrame, at: number): void {
    for (const receiver of this.#receivers) receiver.receive(frame, at);
    this.navigator.receive(frame, at);
  }

  /** Advances the car's time by `ms`. */
  step(ms: number, surroundings: Surroundings): void {
    for (const part of [this.lock, this.hazard, this.horn, this.immobilizer, this.navigator]) part.step(ms);
    this.charger.step(ms, surroundings.before, surroundings.after);
    this.climate.step(ms, surroundings);
  }

  #obeyed(part: Part, obey: (request: number, late: number) => void): (request: number) => void {
    return (request) => {
      const late = this.#answer(part);
      if (late !== undefined) obey(request, late);
    };
  }
}
