const wanted = process.env['TEST_RUNS'];

/**
 * Number of cases in a long property test: `few` in `npm test`, `all` in `npm run test:properties`, which CI runs, or
 * another number set by e.g. TEST_RUNS=100000.
 */
export function runs(few: number, all: number): number {
  if (wanted === undefined) return few;
  return wanted === 'all' ? all : Number(wanted);
}

/** Step between positions in an exhaustive test: `few` in `npm test`, else 1. */
export function stride(few: number): number {
  return wanted === undefined ? few : 1;
}
