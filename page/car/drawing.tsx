/**
 * Drawing of the car from above. Only abnormal, open or active parts have a colour, and text below it repeats the
 * state.
 */
import type { JSX } from 'preact';
import { store } from '../shared/car-store.ts';
import { capital } from '../shared/format.ts';
import { useTopics } from '../shared/hooks.ts';
import { valueInWords } from '../shared/words.ts';
import type { JourneyEvent } from './journey-records.ts';

interface Fact {
  readonly text: string;
  readonly kind: 'good' | 'plain' | 'warn' | 'bad' | 'stale';
}

interface Opening {
  readonly name: string;
  readonly words: string;
}

const doors: readonly Opening[] = [
  { name: 'Driver', words: 'driver’s door' },
  { name: 'Passenger', words: 'passenger’s door' },
  { name: 'RearLeft', words: 'rear left door' },
  { name: 'RearRight', words: 'rear right door' },
];
const hatches: readonly Opening[] = [
  { name: 'Trunk', words: 'boot' },
  { name: 'RearWindow', words: 'rear window' },
  { name: 'RoofWindow', words: 'roof window' },
];
const corners = ['LeftFront', 'RightFront', 'LeftRear', 'RightRear'] as const;
const CHARGING = 'energies.Electric.extension.electric.charging';

const openingPath = (name: string): string => `doorsState.opening.${name}.state`;
const lampPath = (kind: 'turn' | 'fog', corner: string): string => `lightingSystem.${kind}.${corner}.status`;

/** All paths in the drawing. */
const shownPaths: readonly string[] = [
  ...[...doors, ...hatches].map(({ name }) => openingPath(name)),
  ...corners.flatMap((corner) => [lampPath('turn', corner), lampPath('fog', corner)]),
  'doorsState.lockedStates',
  'safety.beltStatus.Driver.belt',
  'safety.beltStatus.Passenger.belt',
  'environment.luminosity.day',
  'ignition.type',
  'kinetic.moving',
  `${CHARGING}.plugged`,
  `${CHARGING}.status`,
  'alarm.status.activation',
  'alarm.trigger.type',
  'wipingBlades.active',
  'stolen.state',
  'privacy.state',
];

/** Transformations of the star that marks a collision, by the side that was hit. */
const impacts: Readonly<Record<string, readonly string[]>> = {
  Front: ['translate(150 44)'],
  Rear: ['translate(150 436)'],
  Lateral: ['translate(66 240)', 'translate(234 240)'],
};

interface DrawingOptions {
  /** Unseen incidents. */
  readonly incidents: readonly JourneyEvent[];
}

export function Drawing({ incidents }: DrawingOptions): JSX.Element {
  useTopics('connection', ...shownPaths);
  const isOpen = (name: string): boolean => store.fresh(openingPath(name)) === 'Open';
  const isOn = (kind: 'turn' | 'fog', corner: string): boolean => store.fresh(lampPath(kind, corner)) === 'On';
  const locked = isLocked();
  const moving = store.fresh('kinetic.moving') === true;
  const plugged = store.fresh(`${CHARGING}.plugged`) === true;
  const rings = alarmCause() !== undefined;
  const sides = new Set(incidents.flatMap((one) => one.sides ?? []));
  const warns = incidents.some(({ kind, open }) => kind === 'Alert' && open);
  const facts = factsOf();
  const sentence = facts.map(({ text }) => text).join('. ');
  return (
    <section class="panel plan" aria-labelledby="plan-title">
      <header>
        <h2 id="plan-title">From above</h2>
        <span class="note">{motionWords()}</span>
      </header>
      <div class="stage">
        <svg viewBox="0 0 300 470" role="img" aria-label={`The car from above. ${sentence}.`}>
          <path class={moving ? 'lane moving' : 'lane'} d="M14-60V530" />
          <path class={moving ? 'lane moving' : 'lane'} d="M286-60V530" />
          <path class={plugged ? 'cable' : 'gone'} d="M84 384C52 390 48 432 22 440H0" />
          {corners.slice(0, 2).map((corner) => (
            <path
              key={corner}
              class={isOn('fog', corner) ? 'beam on' : 'beam'}
              d={corner === 'LeftFront' ? 'M104 66 66 6Q92-8 124 2L122 60Z' : 'M196 66 234 6Q208-8 176 2L178 60Z'}
            />
          ))}
          <path
            class="body"
            d="M150 50C184 50 208 58 216 82C223 104 225 138 225 172V346C225 380 222 402 214 414C204 426 178 429 150 429C122 429 96 426 86 414C78 402 75 380 75 346V172C75 138 77 104 84 82C92 58 116 50 150 50Z"
          />
          <path class="crease" d="M104 76C98 108 95 136 94 158M196 76C202 108 205 136 206 158" />
          <path class="body" d="M226 178l14 5q4 4 1 9l-15-3zM74 178l-14 5q-4 4-1 9l15-3z" />
          <path class="glass" d="M90 172C118 152 182 152 210 172L196 214C176 205 124 205 104 214Z" />
          <path class="glass" d="M102 366C126 374 174 374 198 366L208 394C186 404 114 404 92 394Z" />
          <path class="roof" d="M104 214C124 205 176 205 196 214L198 366C174 374 126 374 102 366Z" />
          <rect class={isOpen('RoofWindow') ? 'hatch open' : 'hatch'} x="116" y="226" width="68" height="44" rx="8" />
          <path
            class={isOpen('RearWindow') ? 'glass open' : 'gone'}
            d="M102 366C126 374 174 374 198 366L208 394C186 404 114 404 92 394Z"
          />
          <path
            class={isOpen('Trunk') ? 'door open' : 'gone'}
            d="M94 420L98 452Q150 464 202 452L206 420Q150 436 94 420Z"
          />
          <Belt path="safety.beltStatus.Driver.belt" x={112} />
          <Belt path="safety.beltStatus.Passenger.belt" x={156} />
          {corners.map((corner) => (
            <g key={corner} transform={cornerTransform(corner)}>
              <path
                class={isOn('fog', corner) ? `lamp ${corner.endsWith('Front') ? 'front' : 'rear'}` : 'lamp'}
                d="M86 84C92 66 104 58 122 55L124 64C108 67 99 73 95 86Z"
              />
              <path
                class={isOn('turn', corner) ? 'turn on' : 'turn'}
                d="M83 87L93 89C91 94 90 98 89 104L79 108C80 100 81 93 83 87Z"
              />
              <path class={isOn('turn', corner) ? 'chevron' : 'gone'} d="M56 78l-9 9 9 9M44 78l-9 9 9 9" />
              <rect class="tyre" x="68" y={corner.endsWith('Front') ? 112 : 84} width="18" height="48" rx="6" />
            </g>
          ))}
          {doors.map(({ name }, index) => (
            <g key={name} transform={index % 2 === 0 ? undefined : 'matrix(-1 0 0 1 300 0)'}>
              <path
                class={isOpen(name) ? `door open ${index < 2 ? 'fore' : 'aft'}` : 'door'}
                d={
                  index < 2
                    ? 'M84 190H78q-4 0-4 4V276q0 4 4 4H82q2 0 2-3V190Z'
                    : 'M84 283H78q-4 0-4 4V352q0 4 4 4H82q2 0 2-3V283Z'
                }
              />
            </g>
          ))}
          <g transform="translate(150 312)">
            <circle class="badge" r="17" />
            <rect class="bolt" x="-7" y="-2" width="14" height="10" rx="2" />
            <path
              class="shackle"
              d={
                locked === false ? 'M-4.500-2v-4a4.500 4.500 0 0 1 8.600-1.800' : 'M-4.500-2v-4a4.500 4.500 0 0 1 9 0v4'
              }
            />
            {locked === undefined && <path class="shackle" d="M-11 11L11-11" />}
          </g>
          {/* Waves next to the car. */}
          <path
            class={rings ? 'rings' : 'gone'}
            d="M52 250q-12-18 0-36M40 260q-20-28 0-56M248 250q12-18 0-36M260 260q20-28 0-56"
          />
          <path class={warns ? 'warning' : 'gone'} d="M150 92l17 30h-34zM150 103v8M150 116v1" />
          {Object.entries(impacts).flatMap(([side, places]) =>
            places.map((place) => (
              <path
                key={place}
                class={sides.has(side) ? 'impact' : 'gone'}
                transform={place}
                d="M0-26L6-10 20-18 13-4 28 2 12 7 18 22 4 13-3 27-7 12-22 19-13 6-28 1-12-4-19-19-5-11Z"
              />
            )),
          )}
        </svg>
      </div>
      <ul class="facts">
        {facts.map(({ text, kind }) => (
          <li key={text} class={kind}>
            <i class={`mark ${kind}`} aria-hidden="true" />
            {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Belt({ path, x }: { readonly path: string; readonly x: number }): JSX.Element {
  const belt = store.fresh(path);
  const state = belt === 'Normal' ? 'on' : belt === undefined ? 'unknown' : 'off';
  return (
    <g>
      <rect class="seat" x={x} y="222" width="32" height="40" rx="8" />
      <path class={`belt ${state}`} d={`M${x + 6} 258L${x + 26} 226`} />
    </g>
  );
}

/** Returns the transformation for a lamp or wheel, which is drawn only once, for the front left. */
function cornerTransform(corner: (typeof corners)[number]): string | undefined {
  if (corner === 'RightFront') return 'matrix(-1 0 0 1 300 0)';
  if (corner === 'LeftRear') return 'matrix(1 0 0 -1 0 480)';
  return corner === 'RightRear' ? 'matrix(-1 0 0 -1 300 480)' : undefined;
}

/** Returns undefined if the car does not report whether it is locked. */
function isLocked(): boolean | undefined {
  const states = store.fresh('doorsState.lockedStates');
  if (!Array.isArray(states)) return undefined;
  return states.includes('Locked') || states.includes('SuperLocked');
}

function motionWords(): string {
  const moving = store.fresh('kinetic.moving');
  const ignition = store.fresh('ignition.type');
  if (moving === true) return 'Drives';
  if (ignition === 'Start') return 'Stands, engine started';
  if (ignition === 'StartUp') return 'Stands, ignition on';
  if (moving === false || ignition === 'Stop') return 'Stands';
  return 'Motion unknown';
}

function lockFact(): Fact {
  const locked = isLocked();
  if (locked === undefined) return { text: 'Lock unknown', kind: 'stale' };
  return locked ? { text: 'Locked', kind: 'good' } : { text: 'Unlocked', kind: 'plain' };
}

function openingFacts(): readonly Fact[] {
  const all = [...doors, ...hatches];
  const open = all.filter(({ name }) => store.fresh(openingPath(name)) === 'Open');
  const known = doors.every(({ name }) => store.fresh(openingPath(name)) !== undefined);
  if (open.length > 0) return open.map(({ words }) => ({ text: `${capital(words)} open`, kind: 'warn' }));
  return [known ? { text: 'All doors closed', kind: 'good' } : { text: 'Doors unknown', kind: 'stale' }];
}

function turnFact(): readonly Fact[] {
  const on = (side: string): boolean =>
    corners.some((corner) => corner.startsWith(side) && store.fresh(lampPath('turn', corner)) === 'On');
  const [left, right] = [on('Left'), on('Right')];
  if (!left && !right) return [];
  return [{ text: left && right ? 'Hazard lights on' : `Indicates ${left ? 'left' : 'right'}`, kind: 'plain' }];
}

function beltFact(): Fact {
  const belt = store.fresh('safety.beltStatus.Driver.belt');
  if (belt === undefined) return { text: 'Belt unknown', kind: 'stale' };
  if (belt === 'Normal') return { text: 'Belt fastened', kind: 'good' };
  return { text: 'Driver’s belt open', kind: store.fresh('kinetic.moving') === true ? 'warn' : 'plain' };
}

function chargeFact(): readonly Fact[] {
  const plugged = store.fresh(`${CHARGING}.plugged`);
  if (typeof plugged !== 'boolean') return [];
  if (!plugged) return [{ text: 'No cable', kind: 'plain' }];
  const charges = store.fresh(`${CHARGING}.status`) === 'InProgress';
  return [{ text: charges ? 'Charges' : 'Cable plugged in', kind: charges ? 'good' : 'plain' }];
}

function factsOf(): readonly Fact[] {
  const fogs = corners.some((corner) => store.fresh(lampPath('fog', corner)) === 'On');
  const alarm = alarmCause();
  const facts: (Fact | undefined)[] = [
    alarm === undefined ? undefined : { text: `Alarm is sounding: ${alarm}`, kind: 'bad' },
    store.fresh('stolen.state') === true ? { text: 'Counts as stolen', kind: 'bad' } : undefined,
    lockFact(),
    ...openingFacts(),
    beltFact(),
    ...chargeFact(),
    ...turnFact(),
    fogs ? { text: 'Fog lights on', kind: 'plain' } : undefined,
    store.fresh('wipingBlades.active') === true ? { text: 'Wipers on', kind: 'plain' } : undefined,
    alarm === undefined && store.fresh('alarm.status.activation') === 'Active'
      ? { text: 'Alarm armed', kind: 'good' }
      : undefined,
    privacyFact(),
  ];
  return facts.filter((fact) => fact !== undefined);
}

/** Returns the cause of an alarm that is sounding, or undefined. */
function alarmCause(): string | undefined {
  const trigger = store.fresh('alarm.trigger.type');
  return trigger === undefined || trigger === 'NoBreakIn' ? undefined : valueInWords('alarm.trigger.type', trigger);
}

function privacyFact(): Fact | undefined {
  const privacy = store.fresh('privacy.state');
  if (privacy === 'Geolocation') return { text: 'The driver hides the position', kind: 'plain' };
  return privacy === 'Full' ? { text: 'The driver hides the car', kind: 'plain' } : undefined;
}
