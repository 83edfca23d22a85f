/** Words for commands: kinds, orders, states, and questions before orders that cannot be undone at once. */
import { capital } from './format.ts';
import { codeInWords, termInWords } from './words.ts';

export function titleOf(type: string): string {
  return capital(codeInWords('commands', type));
}

export function labelOf(type: string, order: string): string {
  return termInWords('orders', `${type} ${order}`) ?? capital(order);
}

/** Returns the question to ask before an order, or undefined if the order can be undone at once. */
export function questionOf(type: string, order: string): string | undefined {
  return termInWords('orderQuestions', `${type} ${order}`);
}

/** Returns words for the state of a command, or for the cause of its failure. */
export function stateInWords(status: string, failureCause: string | undefined): string {
  return failureCause === undefined ? codeInWords('commandStates', status) : codeInWords('failures', failureCause);
}
