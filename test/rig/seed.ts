/**
 * `npm test` generates the same cases for each property test on every machine, so that a failure is repeatable and
 * shows the effect of a change. A search generates new cases each time, and a failure prints the seed to repeat it:
 * TEST_SEED=any, or a number of cases such as TEST_RUNS=100000.
 */
import fc from 'fast-check';

const searches = process.env['TEST_SEED'] === 'any' || /^\d/.test(process.env['TEST_RUNS'] ?? '');
if (!searches) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_121 });
