import type { NumbersStore } from '../../../hub/ports.ts';
import { classes } from '../../../protocol/classes.ts';
import type { Handler } from '../call.ts';
import { found, unknown } from '../resources/context.ts';

/** `GET /vigie/v1/vehicles/{vin}/numbers`: of each class of which anything is known; runs are [first, last]. */
export function numbersOf(store: NumbersStore): Handler {
  return async ({ path }) => {
    const vin = path['vin'] ?? '';
    const numbers = await store.numbers(vin);
    if (numbers === undefined) throw unknown('vehicle', vin);
    return found({
      vin,
      lives: await store.lives(vin),
      classes: numbers.map(({ class: number, ...runs }) => ({
        class: number,
        kinds: classes[number]?.kinds ?? [],
        ...runs,
      })),
    });
  };
}
