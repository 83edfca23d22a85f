/** Rules about fields of a body that a schema cannot express. */

/** Returns an error unless exactly one of `members` is present. */
export function oneMember(body: object, members: readonly string[]): string | undefined {
  const given = members.filter((member) => Object.hasOwn(body, member));
  return given.length === 1
    ? undefined
    : `must have exactly one of ${members.join(', ')}, has ${given.join(' and ') || 'none'}`;
}

/** Returns an error unless at least one of `members` is present. */
export function anyMember(body: object, members: readonly string[]): string | undefined {
  return members.some((member) => Object.hasOwn(body, member)) ? undefined : `must have ${members.join(' or ')}`;
}
