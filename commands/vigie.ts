import { Command, CommanderError } from 'commander';
import { nodeName } from '../assembly/node-lines.ts';
import { FilesRefused } from '../assembly/refused.ts';
import { version } from '../assembly/version.ts';
import { VigieError } from '../protocol/errors.ts';
import { adviceOn, complain, guardOutput } from './output.ts';

/** Exit status for invalid input, the same as the one that `check` uses. */
const WRONG_INPUT = 2;

const description = `The agent in a car's telematics unit: CAN in, CBOR over MQTT out, signed commands carried out.

Programs get NDJSON on standard output (the default when it is not a terminal), people get text; progress and \
diagnostics go to standard error. Times are UTC milliseconds, numbers are physical.
Exit status: 0 done, 1 a command failed in the car, or more than one in a hundred \
frames of a log could not be read or decoded, 2 wrong input.`;

/** The commands in the order of the help. Each is loaded on demand with its modules: `check` does not need MQTT. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  bench: async () => (await import('./bench.ts')).benchCommand(),
  run: async () => (await import('./run.ts')).runCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  decode: async () => (await import('./decode.ts')).decodeCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  inspect: async () => (await import('./inspect.ts')).inspectCommand(),
  scan: async () => (await import('./scan.ts')).scanCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  send: async () => (await import('./send.ts')).sendCommand(),
  watch: async () => (await import('./watch.ts')).watchCommand(),
  hub: async () => (await import('./hub.ts')).hubCommand(),
  enroll: async () => (await import('./enroll.ts')).enrollCommand(),
  keys: async () => (await import('./keys.ts')).keysCommand(),
};

/** Returns the command line with these commands, by default all: the source of the help and the manual pages. */
export async function commandLine(names: readonly string[] = Object.keys(commands)): Promise<Command> {
  const program = new Command('vigie')
    .description(description)
    .version(`${version}\n${nodeName(process.versions.node)}`, '-V, --version')
    .option('--sbom', 'print the software bill of materials (CycloneDX 1.6, JSON) of this program')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(complaint(text)) });
  for (const name of names) {
    const command = await (commands[name] as () => Promise<Command>)();
    for (const one of withSubcommands(command)) one.exitOverride().configureOutput(program.configureOutput());
    program.addCommand(command);
  }
  return program;
}

/** The command and the commands below it, at any depth. */
function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** Parses and executes the command line. Sets the exit status of the process. */
export async function run(argv: readonly string[]): Promise<void> {
  guardOutput();
  const program = await commandLine(needed(argv[2]));
  try {
    if (argv[2] === '--sbom') return (await import('./sbom.ts')).printSbom();
    await program.parseAsync(argv);
  } catch (error) {
    // A resource that was opened before the error (a broker, a source) must not keep the process alive.
    process.exit(explain(error, adviceOn(error, folderOption(program, argv.slice(2)))));
  }
}

/** Returns the commands to load for the first argument: all of them for help or an unknown command. */
function needed(asked = ''): readonly string[] {
  if (asked === '--version' || asked === '-V' || asked === '--sbom') return [];
  return Object.hasOwn(commands, asked) ? [asked] : Object.keys(commands);
}

/** Hints for frequent mistakes, in addition to the messages of the command-line parser. */
const hints: readonly (readonly [said: RegExp, hint: string, given?: RegExp])[] = [
  // A negative number that was meant as a word, such as a longitude west of Greenwich, looks like an option.
  [/unknown option '-\d/, 'put -- before an argument that begins with a minus'],
  [/unknown command 'record'/, 'to record buses, vigie run --record FOLDER'],
  [/missing required argument 'adapter'/, 'such as /dev/ttyUSB0, /dev/rfcomm0, tcp://192.168.0.10:35000 or can0'],
  // An option that accepts several words consumes all following words.
  [/missing required argument/, 'write it before options that take several words, such as --dbc and --kinds', / --?\w/],
];

function complaint(text: string): string {
  const said = text
    .replace(/^error: /, 'vigie: ')
    .replace(/command-argument value '[^']*' is invalid for argument '\w+'\. (?!Allowed)/, '');
  const hint = hints.find(([pattern, , given = /^/]) => pattern.test(said) && given.test(process.argv.join(' ')))?.[1];
  // Commander's suggestion would distract from a hint that fits the purpose.
  return hint === undefined ? said : `${said.replace(/\(Did you mean.*/, '').trimEnd()}: ${hint}\n`;
}

/** Returns the option of a command that names its output folder. */
function folderOption(command: Command, words: readonly string[]): string | undefined {
  const sub = command.commands.find((one) => one.name() === words[0]);
  if (sub !== undefined) return folderOption(sub, words.slice(1));
  return command.options.find(({ long }) => long === '--data' || long === '--dir')?.long;
}

/** @param advice a human-readable line, or empty */
function explain(error: unknown, advice: string): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_INPUT;
  if (error instanceof FilesRefused) complain(error.diagnostics);
  if (error instanceof VigieError) {
    process.stderr.write(`vigie: ${error.message}\n${advice}`);
    return WRONG_INPUT;
  }
  const fault = error as Error;
  if (advice !== '') {
    process.stderr.write(`vigie: ${fault.message}\n${advice}`);
    return WRONG_INPUT;
  }
  if (process.env['VIGIE_DEBUG'] !== undefined) process.stderr.write(`${fault.stack}\n`);
  process.stderr.write(
    `vigie: internal error: ${fault.message}. Please report it; VIGIE_DEBUG=1 shows where it happened.\n`,
  );
  return 70;
}
