const wanted = process.env['TEST_RUNS'];

/**
 * How many cases a long property test tries: `few` in `npm test`, `all` in `npm run test:properties`, which CI runs, and
 * any other number with e.g. TEST_RUNS=100000.
 */
export function runs(few: number, all: number): number {
  if (wanted === undefined) return few;
  return wanted === 'all' ? all : Number(wanted);
}

/** The distance of places that an exhaustive test tries: every `few`th one in `npm test`, else each. */
export function stride(few: number): number {
  return wanted === undefined ? few : 1;
}
