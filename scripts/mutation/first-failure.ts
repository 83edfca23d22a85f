/** A mutant is judged by whether it fails, not by the shortest way to fail; and each by the same cases. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_121, endOnFailure: true });
