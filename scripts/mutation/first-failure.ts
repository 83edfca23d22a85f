/** A mutant only has to fail, so failures are not shrunk. The fixed seed makes the cases equal for all mutants. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_121, endOnFailure: true });
