/**
 * In CI every property test takes the same way through its cases: what fails there fails again, and a change is judged
 * by what it changes. Everywhere else each run takes another way, and a failure prints the seed to repeat it.
 */
import fc from 'fast-check';

if (process.env['CI'] === 'true') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_121 });
