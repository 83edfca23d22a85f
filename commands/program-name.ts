/** Name with which users start this program: an executable is on the path; in a checkout, `npx` finds the launcher. */
const folder: string | undefined = import.meta.dirname;

export const programName = folder === undefined ? 'vigie' : 'npx vigie';
