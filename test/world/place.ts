/** A car, its unit, and the events that affect only them. */
import type { CallerHappening } from './caller.ts';
import { CHARGE, type WorldCar } from './car.ts';
import type { DiskDamage } from './disk.ts';
import type { Happening } from './plan.ts';
import type { WorldTime } from './time.ts';
import type { Unit } from './unit.ts';

export type PowerCut = Extract<Happening, { do: 'power' }>;

/** A car, its unit, and their current faults. */
export interface Place {
  readonly car: WorldCar;
  readonly unit: Unit;
  /** Error code of disk writes. Undefined if they work. */
  code: string | undefined;
  /** Files that the disk does not return. Undefined if it returns all. */
  unreadable: { readonly code: string; readonly what: string } | undefined;
  /** Maximum duration of a sync, ms. */
  takes: number;
  /** A power cut or kill after this number of disk operations. */
  pending: PowerCut | undefined;
  /** Damage to the disk after this power cut. */
  damage: DiskDamage | undefined;
  operationsLeft: number;
}

/** Events that affect the broker, the hub or a caller. */
type OfTheWorld =
  | 'power'
  | 'stop'
  | 'garbage'
  | 'rollout'
  | 'extension'
  | 'origin'
  | 'read errors'
  | 'new life'
  | 'damage'
  | 'profile'
  | 'broker'
  | 'hub'
  | 'hub disk'
  | 'hub receivers'
  | 'hub command'
  | 'fleet'
  | OfTheCaller;
type OfTheCaller = CallerHappening['do'];
export type LocalHappening = Exclude<Happening, { do: OfTheWorld }>;

/** Maximum duration of a sync without a fault, ms. */
export const SYNC = 8;
/** Interval between batches of frames in a flood, ms. */
const FLOOD = 50;
/** Frames per batch. */
const FRAMES = 10;

/** Ends all faults of the car and its unit. */
export function endFaults({ unit, car, ...place }: Place): Pick<Place, 'code' | 'unreadable' | 'takes' | 'pending'> {
  unit.network.dark = false;
  unit.network.lag = 0;
  unit.board.set('ntp');
  unit.receivers.answering = 'works';
  unit.exitReceiver.answering = 'works';
  car.obeys = true;
  car.state.battery = CHARGE;
  car.isBusOff = false;
  car.unhide();
  return { ...place, code: undefined, unreadable: undefined, takes: SYNC, pending: undefined };
}

/** Starts an event at a place, and ends it when its time is over. `tell` receives refusals by the car. */
export function happenTo(
  place: Place,
  happening: LocalHappening,
  time: WorldTime,
  tell: (refusal: string) => void,
): void {
  const { unit, car } = place;
  const until = (work: () => void): void => {
    if ('for' in happening) time.after(happening.for, work);
  };
  switch (happening.do) {
    case 'disk':
      place.code = happening.code;
      until(() => {
        place.code = undefined;
      });
      break;
    case 'slow disk':
      place.takes = happening.takes;
      until(() => {
        place.takes = SYNC;
      });
      break;
    case 'connection':
      if (happening.ends === 'half-open') unit.run?.link.connection?.freeze();
      else unit.run?.link.connection?.end('cut by the world', happening.ends === 'with the rest arriving');
      break;
    case 'network':
      if (happening.dark) {
        unit.network.dark = true;
        unit.run?.link.connection?.end('no network', false);
      } else unit.network.lag = happening.lag;
      until(() => {
        unit.network.dark = false;
        unit.network.lag = 0;
      });
      break;
    case 'clock':
      unit.board.step(happening.steps);
      break;
    case 'drift':
      unit.board.drift(happening.ppm);
      until(() => unit.board.drift(0));
      break;
    case 'time unknown':
      unit.board.doubt();
      until(() => unit.board.trust());
      break;
    case 'drive':
      Object.assign(car.state, { ignition: 'Start', speed: happening.speed });
      until(() => Object.assign(car.state, { ignition: 'Stop', speed: 0 }));
      break;
    case 'door':
      car.state.door = 'Open';
      until(() => {
        car.state.door = 'Closed';
      });
      break;
    case 'battery':
      car.state.battery = happening.charge;
      until(() => {
        car.state.battery = CHARGE;
      });
      break;
    case 'plug':
      Object.assign(car.state, { plugged: false, charging: 'Disconnected' });
      until(() => Object.assign(car.state, { plugged: true, charging: 'Stopped' }));
      break;
    case 'silence':
      if (car.state.speed === 0) car.awake = false;
      until(() => car.wake());
      break;
    case 'stubborn':
      car.obeys = false;
      until(() => {
        car.obeys = true;
      });
      break;
    case 'bus-off':
      car.isBusOff = true;
      until(() => {
        car.isBusOff = false;
      });
      break;
    case 'flood': {
      const end = time.now + happening.for;
      const flood = (): void => {
        car.show(FRAMES);
        if (time.now < end) time.after(FLOOD, flood);
      };
      flood();
      break;
    }
    case 'monitor':
      // If the disk refuses the change, the car has not confirmed it.
      if (unit.alive && unit.run !== undefined) {
        unit.user
          .change(unit.run.agent, happening.which, happening.change)
          .catch((error: Error) => tell(error.message));
      }
      break;
    case 'receivers':
      unit.receivers.answering = happening.answering;
      until(() => {
        unit.receivers.answering = 'works';
      });
      break;
    case 'exit':
      unit.exitReceiver.answering = happening.answering;
      until(() => {
        unit.exitReceiver.answering = 'works';
      });
      break;
    case 'privacy':
      car.hide(happening.state);
      until(() => car.unhide());
      break;
  }
}
