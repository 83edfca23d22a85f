/** `npm run soak`, `week`, `outage` and `quiet`: runs a scenario, and fails if the scenario finds a problem. */
import { parseArgs } from 'node:util';
import type { RunnableScenario } from './scenario.ts';

const scenarios = {
  soak: async () => (await import('./soak.ts')).soak,
  week: async () => (await import('./week.ts')).week,
  outage: async () => (await import('./outage.ts')).outage,
  quiet: async () => (await import('./quiet.ts')).quiet,
} as const;

const [name = '', ...words] = process.argv.slice(2);
const load = (scenarios as Readonly<Record<string, () => Promise<unknown>>>)[name];
if (load === undefined) refuse(`no scenario ${name}; there are ${Object.keys(scenarios).join(', ')}`);
const scenario = (await load()) as RunnableScenario<Readonly<Record<string, number | string>>>;
const problems = await scenario.run(read(scenario, words));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Returns the options that were given, with the defaults for the others. */
function read({ options, argument }: typeof scenario, given: string[]): typeof options {
  const names = Object.keys(options);
  const usage = `usage: npm run ${name} -- ${argument === undefined ? '' : `[${argument}] `}${names.map((one) => `[--${one} ${options[one]}]`).join(' ')}`;
  try {
    const { values, positionals } = parseArgs({
      args: given,
      options: Object.fromEntries(names.map((one) => [one, { type: 'string' }])),
      allowPositionals: argument !== undefined,
    });
    const [alone, ...more] = positionals;
    if (more.length > 0) refuse(usage);
    const all = argument === undefined || alone === undefined ? values : { ...values, [argument]: alone };
    return Object.fromEntries(
      names.map((one) => {
        const value = all[one] ?? options[one];
        if (typeof options[one] === 'string') return [one, String(value)];
        if (!(Number(value) > 0)) refuse(`${value} is no number above 0 for ${one}; ${usage}`);
        return [one, Number(value)];
      }),
    );
  } catch (error) {
    return refuse(`${(error as Error).message}\n${usage}`);
  }
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}
