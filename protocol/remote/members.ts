/** Rules about members of a body that no schema of members can say. */

/** Why not exactly one of `members` is there. */
export function oneMember(body: object, members: readonly string[]): string | undefined {
  const given = members.filter((member) => Object.hasOwn(body, member));
  return given.length === 1
    ? undefined
    : `must have exactly one of ${members.join(', ')}, has ${given.join(' and ') || 'none'}`;
}

/** Why none of `members` is there. */
export function anyMember(body: object, members: readonly string[]): string | undefined {
  return members.some((member) => Object.hasOwn(body, member)) ? undefined : `must have ${members.join(' or ')}`;
}
