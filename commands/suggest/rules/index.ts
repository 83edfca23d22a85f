/** All rules. A rule that depends on the result for another path comes after the rule of that path. */
import type { Rule } from '../rule.ts';
import { assistance } from './assistance.ts';
import { body } from './body.ts';
import { energy } from './energy.ts';
import { motion } from './motion.ts';
import { position } from './position.ts';

const unsorted: readonly Rule[] = [...motion, ...energy, ...body, ...assistance, ...position];

export const rules: readonly Rule[] = [
  ...unsorted.filter(({ alone }) => alone === undefined),
  ...unsorted.filter(({ alone }) => alone !== undefined),
];
