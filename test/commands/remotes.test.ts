/** Every kind of command with every outcome, through the embedded broker. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AedesRig } from '../rig/aedes.ts';
import { stride } from '../rig/runs.ts';
import { cases, outcomes, reached, table } from './remote-outcomes.ts';

describe.concurrent('through the embedded broker', () => {
  const broker = new AedesRig();
  beforeAll(() => broker.start());
  afterAll(() => broker.remove());

  // A condition of the profile is refused in the same way for all kinds and causes.
  const [step, sparse] = [stride(3), stride(9)];
  const demanded = cases.filter(([, , way]) => way.profile === true).filter((_, place) => place % sparse === 0);
  const others = cases.filter(([, , way]) => way.profile !== true).filter((_, place) => place % step === 0);
  test.each([...others, ...demanded])('%s ends with %s', (type, outcome, way) =>
    reached(broker.url, type, outcome, way),
  );

  test('every kind reaches every outcome, or states why not', () => {
    const unsaid = table.filter(([, , way]) => way === undefined).map(([type, outcome]) => `${type}: ${outcome}`);
    expect(unsaid).toEqual([]);
    const reachedByCar = table.filter(([, , way]) => typeof way === 'object' && way.profile !== true);
    // Reached by conditions of the car alone, except for the cause that only a profile can give.
    const causes = new Set(reachedByCar.map(([, outcome]) => outcome));
    expect(outcomes.filter((outcome) => !causes.has(outcome))).toEqual(['VehicleIsNotLocked']);
  });
});
