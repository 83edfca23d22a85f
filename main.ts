import { run } from './commands/vigie.ts';

await run(process.argv);
