/** Formats of help texts, shared by several commands. */
import { Help, type HelpConfiguration } from 'commander';

/** Options of `vigie hub` that select the hub for a command. The others apply to a running hub. */
const PLACE_OPTIONS: ReadonlySet<string | undefined> = new Set(['--config', '--data', '--database']);

/** Help of a hub command. Includes those options of its parent commands that it uses. */
export const placeHelp: HelpConfiguration = {
  showGlobalOptions: true,
  visibleGlobalOptions(command) {
    const parents = [command.parent, command.parent?.parent];
    return parents.flatMap((one) => one?.options ?? []).filter(({ long }) => PLACE_OPTIONS.has(long));
  },
};

/** Help with the options after the first paragraph of the description, and the other paragraphs after the options. */
export const detailsLast: HelpConfiguration = {
  commandDescription: (command) => paragraphsOf(command.description())[0],
  formatHelp(command, helper) {
    const [, details] = paragraphsOf(command.description());
    const wrapped = helper.boxWrap(details, helper.helpWidth ?? 80);
    return `${Help.prototype.formatHelp.call(helper, command, helper)}\nDetails:\n\n${wrapped}\n`;
  },
};

function paragraphsOf(description: string): readonly [first: string, others: string] {
  const end = description.indexOf('\n\n');
  return end < 0 ? [description, ''] : [description.slice(0, end), description.slice(end + 2)];
}
