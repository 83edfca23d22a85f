/** Cars of a simulated fleet, each with its own home, route, speed and event. */
import { DAY } from '../../protocol/calendar.ts';
import type { SimulatedCarOptions } from './index.ts';
import { Loop, type LoopHabits } from './loop.ts';
import { type Corner, champDeMars, Route } from './route.ts';
import type { ScenarioName, Scene } from './scenario.ts';

/** Length of one degree of latitude in m. */
const DEGREE = 111_195;
const RADIANS = Math.PI / 180;
/** Distance in m between the homes of cars in one town. */
const APART = 2_500;
/** Primes: their square roots are irrational, so the attributes of a car are independent of each other. */
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];

/** Centres of towns, WGS 84. The first car of a fleet has its home in Paris, like the bench car. */
const towns: readonly (readonly [latitude: number, longitude: number])[] = [
  [45.764, 4.8357], // Lyon
  [43.6047, 1.4442], // Toulouse
  [48.5734, 7.7521], // Strasbourg
  [47.2184, -1.5536], // Nantes
  [50.6292, 3.0573], // Lille
  [44.8378, -0.5792], // Bordeaux
  [43.6108, 3.8767], // Montpellier
  [48.1173, -1.6778], // Rennes
  [47.322, 5.0415], // Dijon
  [45.8336, 1.2611], // Limoges
  [49.2583, 4.0317], // Reims
  [45.1885, 5.7245], // Grenoble
  [49.1829, -0.3707], // Caen
  [47.3941, 0.6848], // Tours
  [42.6887, 2.8948], // Perpignan
  [49.1193, 6.1757], // Metz
  [45.7772, 3.087], // Clermont-Ferrand
  [47.4784, -0.5632], // Angers
  [43.5297, 5.4474], // Aix-en-Provence
  [49.4432, 1.0993], // Rouen
  [47.2378, 6.0241], // Besançon
  [48.3904, -4.4861], // Brest
  [47.903, 1.9093], // Orléans
  [43.2951, -0.3708], // Pau
];

/** Events on the second half of the route; cars use them in turn. */
const events: readonly Partial<Scene>[] = [
  { lamps: ['TyrePressureFL'] },
  { rain: 'Heavy', night: true },
  { serviceDays: 5 },
  { privacy: 'Geolocation' },
  { lamps: ['BrakePads'] },
  { battery12V: 20 },
  { sky: false },
  { lamps: ['EngineFault'] },
  { washerLow: true, rain: 'Light' },
  { lamps: ['Battery12V'] },
  { lamps: ['OilPressure'] },
];

type FleetCar = Pick<SimulatedCarOptions, 'begin' | 'driving'>;

/** Returns the car with this index, from 0. The same index always returns the same car. */
export function fleetCar(index: number, scenario: ScenarioName): FleetCar {
  if (index === 0) return {};
  const between = (low: number, high: number, series: number): number => low + (high - low) * share(index, series);
  // The script of the day needs a route of the length of the Champ de Mars.
  const stretch = scenario === 'day' ? 1 : between(1, 2, 0);
  const across = scenario === 'day' ? 1 : between(1, 2, 1);
  const corners = cornersAt(homeOf(index), between(0, 360, 2), stretch, across);
  const habits: LoopHabits = {
    errandAt: between(900, 1_700, 3),
    errand: between(20, 90, 4),
    cruise: between(9, 20, 5),
    event: events[index % events.length] as Partial<Scene>,
  };
  const period = scenario === 'day' ? DAY : new Loop(new Route(corners), true, habits).period;
  const begin = {
    elapsed: Math.floor(between(0, period, 6)),
    charge: between(1_200, 11_800, 7),
    fuel: between(5, 41, 8),
    odometer: Math.round(between(2_000_000, 180_000_000, 9)),
    noise: index + 1,
  };
  return { begin, driving: { corners, habits } };
}

function homeOf(index: number): readonly [latitude: number, longitude: number] {
  const [latitude, longitude] = towns[(index - 1) % towns.length] as (typeof towns)[number];
  const round = Math.floor((index - 1) / towns.length);
  const direction = round * 2.4;
  const north = round * APART * Math.cos(direction);
  const east = round * APART * Math.sin(direction);
  return [latitude + north / DEGREE, longitude + east / (DEGREE * Math.cos(latitude * RADIANS))];
}

/** Returns the corners around the Champ de Mars, scaled in length and width, turned by degrees, and moved to a home. */
function cornersAt(
  [latitude, longitude]: readonly [number, number],
  turn: number,
  stretch: number,
  across: number,
): readonly Corner[] {
  const [origin] = champDeMars as readonly [Corner];
  const [sin, cos] = [Math.sin(turn * RADIANS), Math.cos(turn * RADIANS)];
  return champDeMars.map((corner) => {
    const north = (corner.latitude - origin.latitude) * DEGREE * stretch;
    const east = (corner.longitude - origin.longitude) * DEGREE * Math.cos(origin.latitude * RADIANS) * across;
    return {
      ...corner,
      latitude: latitude + (north * cos - east * sin) / DEGREE,
      longitude: longitude + (north * sin + east * cos) / (DEGREE * Math.cos(latitude * RADIANS)),
    };
  });
}

/** Returns numbers from 0 to 1 that differ much for similar indexes: multiples of roots modulo 1. */
function share(index: number, series: number): number {
  return (index * Math.sqrt(PRIMES[series] as number)) % 1;
}
