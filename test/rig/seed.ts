/**
 * `npm test` takes the same way through the cases of every property test on every machine: what fails there fails again,
 * and a change is judged by what it changes. A search takes another way each time, and a failure prints the seed to
 * repeat it: TEST_SEED=any, or a number of cases such as TEST_RUNS=100000.
 */
import fc from 'fast-check';

const searches = process.env['TEST_SEED'] === 'any' || /^\d/.test(process.env['TEST_RUNS'] ?? '');
if (!searches) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_121 });
